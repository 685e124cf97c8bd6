#include "tc/graph/bound_steps.h"

#include <algorithm>
#include <utility>

namespace tc::graph {
namespace {

std::vector<std::size_t> last_readers(const FlatDef& flat) {
  std::vector<std::size_t> result(flat.tensors.size(), 0);
  for (std::size_t s = 0; s < flat.steps.size(); ++s)
    for (auto tensor : flat.steps[s].reads) result[tensor] = s + 1;
  return result;
}

std::map<std::size_t, std::size_t> assigning_frames(const FlatDef& flat) {
  std::map<std::size_t, std::size_t> result;
  for (const auto& step : flat.steps)
    if (std::holds_alternative<lang::Assignment>(step.statement->node)) result[step.writes.front()] = step.frame;
  return result;
}

}  // namespace

std::vector<StepGroup> group_steps(const FlatDef& flat) {
  std::vector<std::size_t> last(flat.tensors.size(), 0);
  for (std::size_t s = 0; s < flat.steps.size(); ++s)
    for (auto tensor : flat.steps[s].writes) last[tensor] = s;
  std::vector<StepGroup> groups;
  for (std::size_t s = 0; s < flat.steps.size();) {
    StepGroup group{s, s + 1};
    for (; s < group.end; ++s)
      for (auto tensor : flat.steps[s].writes) group.end = std::max(group.end, last[tensor] + 1);
    groups.push_back(group);
  }
  return groups;
}

BoundSteps::BoundSteps(const std::shared_ptr<const Defs>& defs, const std::string& name, FlatDef flat_def)
    : flat(std::move(flat_def)),
      sizes(flat.frames.size()),
      symbolic(flat.frames.size()),
      known(flat.tensors.size()),
      assigning_frame(assigning_frames(flat)),
      last_reader(last_readers(flat)) {
  graph.name = name;
  graph.defs = defs;
  graph.inputs = flat.inputs;
  graph.outputs = flat.outputs;
  for (const auto& tensor : flat.tensors) {
    graph.tensors.push_back({tensor.name, contiguous(tensor.type, {}), {}, tensor.role, std::nullopt, {}, {}});
    tensor_names.insert(tensor.name);
  }
}

std::vector<std::vector<std::int64_t>> BoundSteps::shapes(const std::vector<std::size_t>& tensors) const {
  std::vector<std::vector<std::int64_t>> result;
  for (auto tensor : tensors) result.push_back(graph.tensors[tensor].spec.shape);
  return result;
}

std::vector<Dims> BoundSteps::dims(const std::vector<std::size_t>& tensors) const {
  std::vector<Dims> result;
  for (auto tensor : tensors) result.push_back(graph.tensors[tensor].dims);
  return result;
}

void BoundSteps::set(std::size_t tensor, const TensorSpec& spec, std::vector<std::int64_t> mins, Dims dims) {
  graph.tensors[tensor].spec = spec;
  graph.tensors[tensor].dims = std::move(dims);
  mins.resize(spec.shape.size(), 0);
  graph.tensors[tensor].mins = std::move(mins);
  known[tensor] = true;
}

bool BoundSteps::is_seen(std::size_t tensor, const StepGroup& group) const {
  return last_reader[tensor] > group.end || flat.tensors[tensor].role != lang::Role::Temporary;
}

}  // namespace tc::graph
