#include "tc/engine/layouts/operators.h"

#include <algorithm>

#include "tc/base/contains.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/engine/layouts/operator_texts.h"
#include "tc/layout/map/layout_map.h"
#include "tc/layout/map/names.h"

namespace tc::engine {
namespace {

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

}  // namespace

std::int64_t OperatorCall::attribute(const std::string& attribute, std::int64_t otherwise) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() ? otherwise : found->second;
}

std::size_t OperatorProgram::add(VirtualTensor tensor) {
  tensors.push_back(std::move(tensor));
  return tensors.size() - 1;
}

std::size_t OperatorProgram::call(const std::string& op, const std::vector<std::size_t>& inputs,
                                  Attributes attributes) {
  const auto& called = find_operator(op);
  std::vector<VirtualTensor> given;
  for (const auto input : inputs) given.push_back(tensors.at(input));
  const auto result = add(called.result_of(given, attributes));
  calls.push_back({op, inputs, {result}, std::move(attributes), {}, called.element_wise});
  return result;
}

void Invocation::tag() {
  tagged_ = true;
  at_tag_(*this);
}

std::vector<PhysicalTensor*> Invocation::operands() {
  std::vector<PhysicalTensor*> result;
  for (auto* list : {&inputs, &outputs})
    for (auto& tensor : *list) result.push_back(&tensor);
  return result;
}

std::vector<const PhysicalTensor*> Invocation::operands() const {
  std::vector<const PhysicalTensor*> result;
  for (const auto* list : {&inputs, &outputs})
    for (const auto& tensor : *list) result.push_back(&tensor);
  return result;
}

void OperatorLibrary::require(Invocation& call) const {
  const auto operands = call.operands();
  auto liked = guideline ? guideline(call) : std::vector<std::optional<Layout>>(operands.size());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool follows = i < call.inputs.size() || operands[i]->tensor().dims == call.inputs.front().tensor().dims;
    if (!liked[i] && !follows) liked[i] = Layout();
    if (liked[i]) operands[i]->require(*liked[i]);
  }
}

void Dispatcher::add(Routine routine) {
  if (!libraries_.count(routine.library))
    throw OptionsError(
        str("a routine for ", routine.op, " is of the library '", routine.library, "', which is not there"));
  routines_.push_back(std::move(routine));
}

std::vector<const Routine*> Dispatcher::all(const std::string& device, const Invocation& invocation) const {
  std::vector<const Routine*> result;
  for (const auto& routine : routines_)
    if (routine.device == device && routine.op == invocation.call().op &&
        (!routine.accepts || routine.accepts(invocation)))
      result.push_back(&routine);
  std::stable_sort(result.begin(), result.end(), [&](const Routine* a, const Routine* b) {
    return library(a->library).priority > library(b->library).priority;
  });
  return result;
}

const Routine& Dispatcher::choose(const std::string& device, const Invocation& invocation) const {
  const auto accepting = all(device, invocation);
  if (accepting.empty())
    throw OptionsError(str("no routine computes ", invocation.call().op, " on ", device, " as it is called"));
  return *accepting.front();
}

Kernel Dispatcher::invoke(const std::string& device, Invocation& invocation, const std::string& library) const {
  const Routine* routine = &choose(device, invocation);
  for (const auto* other : all(device, invocation))
    if (other->library == library) routine = other;
  auto kernel = routine->invoke(invocation, this->library(routine->library));
  if (!invocation.tagged())
    throw InternalError(
        str("the routine of ", routine->library, " for ", invocation.call().op, " does not tag its call"));
  return kernel;
}

bool counts(const OperatorProgram& program, const OperatorCall& call, std::size_t input) {
  const auto& tensor = program.tensors.at(call.inputs.at(input));
  const auto& whole = program.tensors.at(call.outputs.at(0));
  return !tensor.constant && (!call.element_wise || tensor.dims.size() == whole.dims.size());
}

Layout channels_last(const VirtualTensor& tensor) {
  std::string order = tensor.dims;
  const auto at = order.find('C');
  if (at == std::string::npos) return {};
  order.erase(at, 1);
  return layout::named_layout(order + "C", tensor.dims);
}

std::vector<Layout> candidates_of(const OperatorProgram& program, const OperatorCall& call,
                                  const std::vector<std::vector<Layout>>& produced) {
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
    if (program.tensors.at(input).dims.size() == whole.dims.size())
      for (const auto& layout : produced.at(input)) add(layout);
  add(simplest(channels_last(whole), whole.extents));
  add(Layout());
  return result;
}

namespace {

/// The layouts of what counts() of \p alternative, which is one of \p call.
graph::LayoutAlternative counted_layouts(const OperatorProgram& program, const OperatorCall& call,
                                         const CallAlternative& alternative) {
  graph::LayoutAlternative result{{}, alternative.seconds};
  for (std::size_t i = 0; i < alternative.operands.size(); ++i)
    if (i >= call.inputs.size() || counts(program, call, i)) result.layouts.push_back(alternative.operands[i]);
  return result;
}

}  // namespace

EvaluatedProgram evaluate_partially(
    const OperatorProgram& program, const Dispatcher& dispatcher, const std::string& device, bool by_bytes,
    const std::function<std::vector<CallAlternative>(const OperatorCall&)>& alternatives) {
  EvaluatedProgram result;
  auto tensors = program.tensors;             // with the layouts that routines ask for
  std::vector<std::vector<Layout>> produced;  // of each tensor, in which it may be
  for (const auto& tensor : tensors) {
    result.graph.tensors.push_back({tensor.name, by_bytes ? bytes_of(tensor) : 1, {}, tensor.produced});
    produced.push_back({tensor.produced});
  }
  for (std::size_t c = 0; c < program.calls.size(); ++c) {
    const auto& call = program.calls[c];
    Invocation invocation(call, [](Invocation&) { throw EndAtTag{}; });
    for (const auto t : call.inputs) invocation.inputs.emplace_back(tensors.at(t));
    for (const auto t : call.outputs) invocation.outputs.emplace_back(tensors.at(t));
    result.libraries.push_back(dispatcher.choose(device, invocation).library);
    try {
      dispatcher.invoke(device, invocation);
    } catch (const EndAtTag&) {
    }
    graph::LayoutNode node{call.op, {}, call.outputs, {}, call.candidates};
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      if (!counts(program, call, i)) continue;
      node.inputs.push_back(call.inputs[i]);
      node.required.push_back(invocation.inputs[i].required());
    }
    if (call.element_wise)
      for (const auto& layout : candidates_of(program, call, produced))
        if (!contains(node.candidates, layout)) node.candidates.push_back(layout);
    result.alternatives.push_back(alternatives ? alternatives(call) : std::vector<CallAlternative>());
    for (const auto& alternative : result.alternatives.back())
      node.alternatives.push_back(counted_layouts(program, call, alternative));
    const Layout first = node.inputs.empty() ? Layout() : node.required[0].value_or(tensors[node.inputs[0]].produced);
    for (std::size_t o = 0; o < call.outputs.size(); ++o) {
      const auto& required = invocation.outputs[o].required();
      const auto output = call.outputs[o];
      node.required.push_back(required);
      tensors[output].produced = required.value_or(first);
      produced[output] = node.candidates.empty() ? std::vector{tensors[output].produced} : node.candidates;
      for (const auto& alternative : node.alternatives)
        produced[output].push_back(alternative.layouts[node.inputs.size() + o]);
      result.graph.tensors[output].producer = c;
    }
    result.graph.nodes.push_back(std::move(node));
  }
  return result;
}

}  // namespace tc::engine
