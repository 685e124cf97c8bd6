#include "tc/engine/layouts/layout_plan.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "tc/base/contains.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/engine/layouts/measured_alternatives.h"

namespace tc::engine {
namespace {

using Clock = std::chrono::steady_clock;
using Place = PlanBuffer::Place;

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

const std::vector<std::string> choices = {"asked", "hoisted", "element-wise", "both", "shared", "greedy", "measured"};

graph::LayoutResolution resolve(const graph::LayoutGraph& graph, LayoutChoice choice) {
  using enum LayoutChoice;
  using graph::LayoutObjective, graph::Hoisting;
  if (choice == Shared || choice == Measured) return graph::choose_layouts(graph, LayoutObjective::Shared);
  if (choice == Greedy) return graph::resolve_greedily(graph);
  const bool chooses = choice == ElementWise || choice == Both, hoists = choice == Hoisted || choice == Both;
  auto result = chooses ? graph::choose_layouts(graph, LayoutObjective::Edges) : graph::resolve_layouts(graph);
  return hoists ? graph::hoist_conversions(graph, std::move(result), Hoisting::AllConsumers) : result;
}

/// Writes the steps of a program whose layouts are resolved.
class PlanWriter {
 public:
  PlanWriter(const OperatorProgram& program, const EvaluatedProgram& evaluated,
             const graph::LayoutResolution& resolution, const Dispatcher& dispatcher, OperatorKernels& kernels)
      : program_(program), evaluated_(evaluated), resolution_(resolution), dispatcher_(dispatcher), kernels_(kernels) {
    add_tensors();
    for (std::size_t c = 0; c < program.calls.size(); ++c) add_call(c);
  }

  std::shared_ptr<LayoutPlan> plan() { return std::make_shared<LayoutPlan>(std::move(steps_), std::move(buffers_)); }

 private:
  std::size_t add_buffer(VirtualTensor tensor, Place place, std::size_t index = 0) {
    buffers_.push_back({std::move(tensor), place, index});
    return buffers_.size() - 1;
  }

  void add_tensors() {
    std::vector<bool> is_written(program_.tensors.size()), is_read(program_.tensors.size());
    for (const auto& call : program_.calls) {
      for (const auto t : call.inputs) is_read[t] = true;
      for (const auto t : call.outputs) is_written[t] = true;
    }
    std::size_t inputs = 0, results = 0;
    for (std::size_t t = 0; t < program_.tensors.size(); ++t) {
      auto tensor = program_.tensors[t];
      tensor.produced = resolution_.produced[t];
      const bool is_result = is_written[t] && !is_read[t];
      const auto place = is_result         ? Place::Result
                         : is_written[t]   ? Place::Workspace
                         : tensor.constant ? Place::Constant
                                           : Place::Input;
      if (place == Place::Constant && !tensor.is_computed())
        throw ArgumentError(str("the constant '", tensor.name, "' has no elements"));
      const auto index = place == Place::Input ? inputs++ : is_result ? results++ : 0;
      of_tensor_.push_back(add_buffer(std::move(tensor), place, index));
    }
  }

  /// The buffer of tensor \p t in \p layout for call \p c: a conversion that it shares with those that \p resolution_ says.
  std::size_t in_layout(std::size_t t, const Layout& layout, std::size_t c) {
    if (buffers_[of_tensor_[t]].tensor.produced == layout) return of_tensor_[t];
    std::size_t number = resolution_.conversions.size();  // what no choice was made for is converted once
    if (!program_.tensors[t].constant)
      for (std::size_t i = 0; i < resolution_.conversions.size(); ++i) {
        const auto& one = resolution_.conversions[i];
        if (one.tensor == t && one.to == layout && contains(one.consumers, c)) number = i;
      }
    const auto [known, is_new] = converted_.try_emplace({t, to_string(layout), number}, 0);
    if (is_new) known->second = convert(t, layout);
    return known->second;
  }
  std::size_t convert(std::size_t t, const Layout& layout) {
    const auto from = of_tensor_[t];
    const auto& tensor = buffers_[from].tensor;
    if (buffers_[from].place == Place::Constant)
      return add_buffer(kernels_.converted_constant(tensor, layout), Place::Constant);
    auto kernel = kernels_.of_conversion(tensor, layout);
    auto copy = tensor;
    copy.produced = layout;
    const auto to = add_buffer(std::move(copy), Place::Workspace);
    steps_.push_back({"convert", "", true, {from, to}, std::move(kernel)});
    return to;
  }

  void add_call(std::size_t c) {
    const auto& call = program_.calls[c];
    const auto& alternatives = evaluated_.alternatives[c];
    const auto* chosen = alternatives.empty() ? nullptr : &alternatives[resolution_.choices[c].value()];
    PlanStep step{call.op, chosen ? chosen->library : evaluated_.libraries[c], false, {}, {}};
    Invocation invocation(call, [&](Invocation& now) {
      std::size_t counted = 0;
      for (std::size_t i = 0; i < now.inputs.size(); ++i) {
        const bool constant = now.inputs[i].tensor().constant;
        const auto layout = counts(program_, call, i) ? resolution_.required[c][counted++]
                            : !constant               ? Layout()
                            : chosen                  ? chosen->operands[i]
                                                      : now.inputs[i].required().value_or(Layout());
        step.buffers.push_back(in_layout(call.inputs[i], layout, c));
        now.inputs[i].place(buffers_[step.buffers.back()].tensor);
      }
      for (std::size_t o = 0; o < now.outputs.size(); ++o) {
        step.buffers.push_back(of_tensor_[call.outputs[o]]);
        now.outputs[o].place(buffers_[step.buffers.back()].tensor);
      }
    });
    for (const auto t : call.inputs) invocation.inputs.emplace_back(buffers_[of_tensor_[t]].tensor);
    for (const auto t : call.outputs) invocation.outputs.emplace_back(buffers_[of_tensor_[t]].tensor);
    step.kernel = dispatcher_.invoke("cpu", invocation, step.library);
    steps_.push_back(std::move(step));
  }

  const OperatorProgram& program_;
  const EvaluatedProgram& evaluated_;
  const graph::LayoutResolution& resolution_;
  const Dispatcher& dispatcher_;
  OperatorKernels& kernels_;
  std::vector<PlanStep> steps_;
  std::vector<PlanBuffer> buffers_;
  std::vector<std::size_t> of_tensor_;  ///< the buffer of each tensor as it is produced
  std::map<std::tuple<std::size_t, std::string, std::size_t>, std::size_t> converted_;
};

std::size_t bytes_of(const PlanBuffer& buffer) {
  const auto& tensor = buffer.tensor;
  return static_cast<std::size_t>(tensor.spec_in(tensor.produced).element_count() * byte_size(tensor.type));
}

}  // namespace

std::string to_string(LayoutChoice choice) { return choices[static_cast<std::size_t>(choice)]; }

LayoutChoice parse_layout_choice(const std::string& text) {
  const auto found = std::find(choices.begin(), choices.end(), text);
  if (found == choices.end())
    throw OptionsError(str("layouts are chosen as '", join(choices, "', '"), "', not '", text, "'"));
  return static_cast<LayoutChoice>(found - choices.begin());
}

LayoutPlan::LayoutPlan(std::vector<PlanStep> steps, std::vector<PlanBuffer> buffers)
    : steps_(std::move(steps)), buffers_(std::move(buffers)) {
  place_buffers();
  pool_ = std::make_unique<WorkspacePool>(workspace_bytes_);
}

void LayoutPlan::place_buffers() {
  std::vector<std::pair<int, int>> life(buffers_.size(), {-1, -1});
  for (std::size_t s = 0; s < steps_.size(); ++s)
    for (const auto b : steps_[s].buffers) {
      if (life[b].first < 0) life[b].first = static_cast<int>(s);
      life[b].second = static_cast<int>(s);
    }
  std::vector<Lifetime> lifetimes;
  for (std::size_t b = 0; b < buffers_.size(); ++b)
    if (buffers_[b].place == Place::Workspace)
      lifetimes.push_back({str(b), bytes_of(buffers_[b]), life[b].first, life[b].second});
  const auto planned = plan_workspace(std::move(lifetimes));
  for (std::size_t b = 0; b < buffers_.size(); ++b)
    if (const auto found = planned.offsets.find(str(b)); found != planned.offsets.end())
      buffers_[b].index = found->second;
  workspace_bytes_ = planned.bytes;
}

std::size_t LayoutPlan::conversions() const {
  return static_cast<std::size_t>(
      std::count_if(steps_.begin(), steps_.end(), [](const PlanStep& step) { return step.conversion; }));
}

std::string LayoutPlan::to_string() const {
  TextStream out;
  for (const auto& step : steps_) {
    out << step.name << " (" << step.kernel.runs << ")";
    for (std::size_t i = 0; i < step.buffers.size(); ++i) {
      const auto& tensor = buffers_[step.buffers[i]].tensor;
      out << (i + 1 < step.buffers.size() ? " " : " -> ") << tensor.name << ": " << layout::to_string(tensor.produced)
          << (i + 2 < step.buffers.size() ? "," : "");
    }
    out << "\n";
  }
  return out.str();
}

void LayoutPlan::check(const std::vector<VirtualTensor>& inputs) const {
  std::size_t wanted = 0;
  for (const auto& buffer : buffers_) {
    if (buffer.place != Place::Input) continue;
    const auto& tensor = buffer.tensor;
    if (++wanted > inputs.size()) continue;
    const auto& given = inputs[buffer.index];
    const bool fits = given.type == tensor.type && given.extents == tensor.extents &&
                      simplest(given.produced, given.extents) == tensor.produced && given.is_computed();
    if (!fits)
      throw ArgumentError(str("input ", buffer.index, " ('", tensor.name, "') is ",
                              contiguous(tensor.type, tensor.extents), " in the layout ",
                              layout::to_string(tensor.produced), ", and another tensor was given"));
  }
  if (wanted != inputs.size())
    throw ArgumentError(str("the program has ", wanted, " inputs, ", inputs.size(), " were given"));
}

std::vector<VirtualTensor> LayoutPlan::run(const std::vector<VirtualTensor>& inputs,
                                           std::vector<double>* seconds) const {
  check(inputs);
  const WorkspaceLease workspace(*pool_);
  std::vector<VirtualTensor> results;
  std::vector<void*> pointers;
  for (const auto& buffer : buffers_) {
    if (buffer.place == Place::Result) results.push_back(allocate(buffer.tensor, buffer.tensor.produced));
    pointers.push_back(buffer.place == Place::Input      ? inputs[buffer.index].data()
                       : buffer.place == Place::Result   ? results.back().data()
                       : buffer.place == Place::Constant ? buffer.tensor.data()
                                                         : workspace.block() + buffer.index);
  }
  if (seconds) seconds->clear();
  std::vector<void*> operands;
  for (const auto& step : steps_) {
    operands.clear();
    for (const auto buffer : step.buffers) operands.push_back(pointers[buffer]);
    const auto begin = Clock::now();
    step.kernel.run(operands.data());
    if (seconds) seconds->push_back(milliseconds_since(begin) / 1e3);
  }
  return results;
}

std::shared_ptr<const LayoutPlan> make_plan(const OperatorProgram& program, LayoutChoice choice,
                                            const Dispatcher& dispatcher, OperatorKernels& kernels) {
  auto begin = Clock::now();
  const auto evaluated = choice == LayoutChoice::Measured ? evaluate_by_measuring(program, dispatcher, kernels)
                                                          : evaluate_partially(program, dispatcher, "cpu");
  const auto resolution = resolve(evaluated.graph, choice);
  const double choosing = milliseconds_since(begin);
  begin = Clock::now();
  auto plan = PlanWriter(program, evaluated, resolution, dispatcher, kernels).plan();
  plan->choosing_ms = choosing;
  plan->making_ms = milliseconds_since(begin);
  return plan;
}

}  // namespace tc::engine
