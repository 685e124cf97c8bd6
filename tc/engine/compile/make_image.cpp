#include "tc/engine/compile/make_image.h"

#include <algorithm>
#include <map>
#include <string>

#include "tc/base/check_tensor.h"
#include "tc/base/str.h"
#include "tc/engine/run/in_place.h"
#include "tc/halide_bridge/lower/program.h"

namespace tc::engine {
namespace {

/// The bytes that \p tensor takes in memory. Throws ResourceError for more than addresses reach.
std::size_t bytes_of(const polyhedral::Tensor& tensor) {
  TensorSpec spec{tensor.type, tensor.extent, tensor.strides};
  try {
    check_tensor(spec, str("the temporary '", tensor.name, "'"));
  } catch (const ArgumentError& error) {
    throw ResourceError(error.what());
  }
  return static_cast<std::size_t>(element_span(spec).high + 1) * static_cast<std::size_t>(byte_size(tensor.type));
}

/// The lifetimes of the temporaries in memory, by launch. Launches are opaque to each other, so ranges of dead
/// temporaries can be used again; within one launch a code generator may assume that two buffers are apart. The word at
/// which blocks wait for each other is kept from one run to the next.
std::vector<Lifetime> lifetimes(const CompileState& state) {
  std::map<std::string, Lifetime> found;
  auto note = [&](const polyhedral::Scop& scop, const std::vector<std::string>& buffers, int launch) {
    for (const auto& tensor : scop.tensors) {
      if (tensor.storage != polyhedral::Tensor::Storage::Workspace) continue;
      if (std::find(buffers.begin(), buffers.end(), tensor.name) == buffers.end()) continue;
      auto& life = found.try_emplace(tensor.name, Lifetime{tensor.name, 0, launch, 0}).first->second;
      life.bytes = std::max(life.bytes, bytes_of(tensor));
      life.last = launch;
    }
  };
  bool waits = false;
  for (std::size_t i = 0; i < state.launches.size(); ++i) {
    const auto& launch = state.launches[i];
    if (launch.scop) note(*launch.scop, launch.buffers, static_cast<int>(i));
    const auto* on = std::get_if<GridLaunch>(&launch.on);
    if (!on) continue;
    for (const auto& part : on->kernels) note(part.kernel->scop, part.buffers, static_cast<int>(i));
    waits = waits ||
            std::any_of(on->texts.begin(), on->texts.end(), [](const auto& text) { return text.shape.cooperative; });
  }
  std::vector<Lifetime> result;
  if (waits) result.push_back({cuda::barrier_word, sizeof(unsigned), 0, static_cast<int>(state.launches.size()) - 1});
  for (auto& [name, life] : found) result.push_back(std::move(life));
  return result;
}

Slot slot_of(const std::string& buffer, const CompileState& state, const WorkspacePlan& plan) {
  for (std::size_t i = 0; i < state.arguments.size(); ++i)
    if (state.arguments[i].name == buffer) return ArgumentSlot{i};
  auto offset = plan.offsets.find(buffer);
  if (offset == plan.offsets.end())
    throw InternalError(str("buffer '", buffer, "' is neither an argument nor planned"));
  return WorkspaceSlot{offset->second};
}

}  // namespace

std::vector<InPlace> in_place(const Function& function, const std::vector<Argument>& arguments) {
  auto index = [&](const std::string& name) {
    auto found = std::find_if(arguments.begin(), arguments.end(), [&](const auto& a) { return a.name == name; });
    return static_cast<int>(found - arguments.begin());
  };
  std::vector<InPlace> result;
  for (const auto& [input, output] : in_place_pairs(function.def)) {
    InPlace pair{index(input), index(output)};
    const auto& mins = arguments[pair.output].mins;
    if (std::all_of(mins.begin(), mins.end(), [](auto min) { return min == 0; })) result.push_back(pair);
  }
  return result;
}

Image make_image(const CompileState& state) {
  Image image;
  auto plan = plan_workspace(lifetimes(state));
  image.workspace_bytes = plan.bytes;
  std::size_t next_kernel = 0;
  for (std::size_t i = 0; i < state.launches.size(); ++i) {
    const auto& made = state.launches[i];
    const auto before = image.launches.size();
    auto add = [&](LaunchCode code, const std::vector<std::string>& buffers) {
      auto& launch = image.launches.emplace_back(Launch{code, {}, {}, state.function->name()});
      for (const auto& buffer : buffers) launch.slots.push_back(slot_of(buffer, state, plan));
    };
    std::visit(overloaded{[&](const CpuLaunch& on) {
                            if (on.code.bytes.empty()) return;
                            image.functions.push_back(on.code);
                            add(FunctionCall{image.functions.size() - 1}, made.buffers);
                          },
                          [&](const GridLaunch& on) {
                            for (const auto& text : on.texts) add(KernelCall{0, next_kernel++}, text.buffers);
                          }},
               made.on);
    if (image.launches.size() == before) continue;
    for (const auto& check : state.program->launches[i].checks)
      image.launches.back().tests.push_back(
          {std::get<WorkspaceSlot>(slot_of(check.flag, state, plan)).offset, check.message});
  }
  if (state.device) image.modules.push_back(*state.device);
  return image;
}

}  // namespace tc::engine
