#include "tc/graph/resolve/operators.h"

#include <algorithm>

#include "tc/base/contains.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/layout/map/layout_map.h"
#include "tc/layout/map/names.h"

namespace tc::graph {
namespace {

/// Ends a routine at its tag.
struct Tagged {};

/// Channels behind all other dimensions of \p tensor.
Layout channels_last(const VirtualTensor& tensor) {
  std::string order = tensor.dims;
  const auto at = order.find('C');
  if (at == std::string::npos) return {};
  order.erase(at, 1);
  return layout::named_layout(order + "C", tensor.dims);
}

/// Does \p small, whose dimensions are some of those of \p whole, fill all places that \p layout, one of \p whole, gives it?
bool is_representable(const VirtualTensor& small, const VirtualTensor& whole, const Layout& layout) {
  layout::Extents extents;
  for (const char dim : whole.dims) extents.push_back(small.dims.find(dim) == std::string::npos ? 1 : small.size(dim));
  for (std::size_t d = 0; d < extents.size(); ++d) {
    if (small.dims.find(whole.dims[d]) == std::string::npos) continue;
    for (const auto block : layout::LayoutMap(layout, extents).blocks(d))
      if (extents[d] % block != 0) return false;
  }
  return true;
}

double bytes_of(const VirtualTensor& tensor) {
  double bytes = static_cast<double>(byte_size(tensor.type));
  for (const auto extent : tensor.extents) bytes *= static_cast<double>(extent);
  return bytes;
}

double weight_of(const VirtualTensor& tensor, bool by_bytes) {
  if (tensor.constant) return 0;
  return by_bytes ? bytes_of(tensor) : 1;
}

}  // namespace

std::int64_t VirtualTensor::size(char dim) const {
  const auto at = dims.find(dim);
  if (at == std::string::npos) throw ArgumentError(str("'", name, "' has the dimensions ", dims, ", not ", dim));
  return extents[at];
}

void PhysicalTensor::require(const Layout& layout) {
  if (said_) throw InternalError(str("a routine has said the layout of '", tensor_->name, "' twice"));
  said_ = true;
  required_ = layout;
}

void PhysicalTensor::require(layout::AnyLayout) {
  if (said_) throw InternalError(str("a routine has said the layout of '", tensor_->name, "' twice"));
  said_ = true;
}

std::int64_t Invocation::attribute(const std::string& name, std::int64_t otherwise) const {
  const auto found = call_->attributes.find(name);
  return found == call_->attributes.end() ? otherwise : found->second;
}

void Invocation::tag() const {
  if (partial_) throw Tagged{};
}

void Dispatcher::add(Routine routine) {
  if (!libraries_.count(routine.library))
    throw OptionsError(
        str("a routine for ", routine.op, " is of the library '", routine.library, "', which is not there"));
  routines_.push_back(std::move(routine));
}

const Routine& Dispatcher::choose(const std::string& device, const Invocation& invocation) const {
  const Routine* best = nullptr;
  for (const auto& routine : routines_) {
    if (routine.device != device || routine.op != invocation.call().op) continue;
    if (routine.accepts && !routine.accepts(invocation)) continue;
    if (!best || library(best->library).priority < library(routine.library).priority) best = &routine;
  }
  if (!best) throw OptionsError(str("no routine computes ", invocation.call().op, " on ", device, " as it is called"));
  return *best;
}

std::vector<Layout> candidates_of(const OperatorProgram& program, const OperatorCall& call,
                                  const std::vector<Layout>& produced) {
  const auto& whole = program.tensors.at(call.outputs.at(0));
  std::vector<Layout> result;
  const auto add = [&](const Layout& layout) {
    for (const auto input : call.inputs) {
      const auto& tensor = program.tensors.at(input);
      if (tensor.dims.size() < whole.dims.size() && !is_representable(tensor, whole, layout)) return;
    }
    if (!contains(result, layout)) result.push_back(layout);
  };
  for (const auto input : call.inputs)
    if (program.tensors.at(input).dims.size() == whole.dims.size()) add(produced.at(input));
  add(channels_last(whole));
  add(Layout());
  return result;
}

EvaluatedProgram evaluate_partially(const OperatorProgram& program, const Dispatcher& dispatcher,
                                    const std::string& device, bool by_bytes) {
  EvaluatedProgram result;
  std::vector<Layout> produced(program.tensors.size());
  for (const auto& [tensor, layout] : program.entry) produced.at(tensor) = layout;
  for (std::size_t t = 0; t < program.tensors.size(); ++t)
    result.graph.tensors.push_back({program.tensors[t].name, weight_of(program.tensors[t], by_bytes), {}, produced[t]});
  for (std::size_t c = 0; c < program.calls.size(); ++c) {
    const auto& call = program.calls[c];
    Invocation invocation(call, true);
    for (const auto t : call.inputs) invocation.inputs.emplace_back(program.tensors.at(t), produced[t]);
    for (const auto t : call.outputs) invocation.outputs.emplace_back(program.tensors.at(t), std::nullopt);
    const Routine& routine = dispatcher.choose(device, invocation);
    bool tagged = false;
    try {
      routine.invoke(invocation, dispatcher.library(routine.library));
    } catch (const Tagged&) {
      tagged = true;
    }
    if (!tagged)
      throw InternalError(str("the routine of ", routine.library, " for ", call.op, " does not tag its call"));
    LayoutNode node{call.op, call.inputs, call.outputs, {}, call.candidates};
    if (call.element_wise)
      for (const auto& layout : candidates_of(program, call, produced))
        if (!contains(node.candidates, layout)) node.candidates.push_back(layout);
    for (const auto& input : invocation.inputs) node.required.push_back(input.required());
    for (const auto& output : invocation.outputs) node.required.push_back(output.required());
    const Layout first = call.inputs.empty() ? Layout() : node.required[0].value_or(produced[call.inputs[0]]);
    for (std::size_t o = 0; o < call.outputs.size(); ++o) {
      produced[call.outputs[o]] = invocation.outputs[o].required().value_or(first);
      result.graph.tensors[call.outputs[o]].producer = c;
    }
    result.graph.nodes.push_back(std::move(node));
    result.libraries.push_back(routine.library);
  }
  return result;
}

}  // namespace tc::graph
