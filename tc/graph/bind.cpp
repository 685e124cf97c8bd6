#include "tc/graph/bind.h"

#include <algorithm>

#include "tc/base/cancellation.h"
#include "tc/base/check_tensor.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/graph/bound_steps.h"
#include "tc/graph/statements_node.h"
#include "tc/graph/step_statement.h"
#include "tc/lang/interpret/ranges.h"
#include "tc/lang/syntax/print.h"

namespace tc::graph {
namespace {

using lang::CallStatement;

/// Frames whose steps have begun, in order: the next one that begins, and those that have not ended.
struct Frames {
  std::size_t next = 0;
  std::vector<std::size_t> open;
};

/// Gives the frames that begin before step \p end their sizes; false where one takes a tensor that the same node
/// writes, whose sizes are not known yet.
bool begin_frames(BoundSteps& steps, Frames& frames, std::size_t end) {
  const auto& all = steps.flat.frames;
  for (; frames.next < all.size() && all[frames.next].first_step < end; ++frames.next) {
    const auto& frame = all[frames.next];
    if (!std::all_of(frame.params.begin(), frame.params.end(), [&](auto t) { return steps.known[t]; })) return false;
    steps.sizes[frames.next] = lang::bind_sizes(*frame.def, steps.shapes(frame.params));
    steps.symbolic[frames.next] = symbolic_sizes(*frame.def, steps.dims(frame.params));
    frames.open.push_back(frames.next);
  }
  return true;
}

/// Throws ArgumentError where return number \p r of \p frame is not what its def declares for \p sizes.
void check_declared(const Graph& graph, const Frame& frame, std::size_t r, const lang::SizeMap& sizes) {
  const auto& decl = frame.def->returns[r];
  const auto& tensor = graph.tensors[frame.returns[r]];
  for (std::size_t d = 0; decl.dims && d < decl.dims->size(); ++d) {
    const auto declared = lang::evaluate_size((*decl.dims)[d], sizes);
    if (declared != tensor.spec.shape[d])
      throw ArgumentError(str("dimension ", d, " of the return '", decl.name, "' of '", frame.def->name, "' is ",
                              tensor.spec.shape[d], ", but it is declared as ", lang::print((*decl.dims)[d]), ", ",
                              declared));
  }
}

/// Compares the results of the frames that end before step \p end with what their defs declare.
void end_frames(const BoundSteps& steps, Frames& frames, std::size_t end) {
  std::erase_if(frames.open, [&](std::size_t f) {
    const auto& frame = steps.flat.frames[f];
    if (frame.end_step > end) return false;
    for (std::size_t r = 0; r < frame.returns.size(); ++r) check_declared(steps.graph, frame, r, steps.sizes[f]);
    return true;
  });
}

/// Fixes the shapes of the tensors that \p node writes.
void set_outputs(BoundSteps& steps, const Node& node) {
  const auto sizes = lang::bind_sizes(node.def->def, steps.shapes(node.inputs));
  const auto symbolic = symbolic_sizes(node.def->def, steps.dims(node.inputs));
  lang::check_preconditions(node.def->ranges, sizes);
  for (std::size_t r = 0; r < node.outputs.size(); ++r) {
    const auto& name = node.def->def.returns[r].name;
    const auto& info = node.def->def.tensors.at(name);
    TensorSpec spec{info.type, {}, {}};
    std::vector<std::int64_t> mins;
    const auto& ranges = node.def->ranges.tensors.at(name);
    for (const auto& range : lang::evaluate_box(ranges, sizes)) {
      spec.shape.push_back(range.extent);
      mins.push_back(range.min);
    }
    check_shape(spec.shape, str("tensor '", steps.graph.tensors[node.outputs[r]].name, "'"));
    spec.strides = row_major_strides(spec.shape);
    if (!node.callee.empty()) mins.clear();
    steps.set(node.outputs[r], spec, std::move(mins), dims_of(ranges, sizes, symbolic));
  }
}

/// A call of a def without calls, with the shapes of its results.
Node call_node(BoundSteps& steps, const Step& step, const CallStatement& call) {
  Node node;
  node.callee = call.def;
  node.def = steps.graph.defs->call_free.at(call.def);
  node.inputs.assign(step.reads.begin(), step.reads.begin() + static_cast<std::ptrdiff_t>(call.arguments.size()));
  node.outputs = step.writes;
  node.statements.push_back(call_statement(steps, step));
  try {
    set_outputs(steps, node);
  } catch (const ArgumentError& error) {
    throw ArgumentError(str(error.what(), ", in the call '", lang::print(*step.statement), "' of '",
                            steps.flat.frames[step.frame].def->name, "'"));
  }
  return node;
}

/// The node of \p group, with the shapes of what it writes.
std::optional<Node> node_of(BoundSteps& steps, const StepGroup& group, StatementDefs& defs) {
  const auto& first = steps.flat.steps[group.first];
  const auto* call = std::get_if<CallStatement>(&first.statement->node);
  const bool indirect = call && !steps.graph.defs->call_free.at(call->def)->ranges.data_dependent.empty();
  if (call && group.end == group.first + 1 && !indirect) return call_node(steps, first, *call);
  auto node = statements_node(steps, group, indirect, defs);
  if (node) set_outputs(steps, *node);
  return node;
}

/// The dimensions of the parameters of \p def, over its sizes \p symbolic.
std::vector<Dims> dims_of_params(const lang::Def& def, const lang::SizeMap& sizes,
                                 const std::set<std::string>& symbolic) {
  SizeExprs names;
  for (const auto& name : symbolic) names[name] = lang::make_expr(lang::Name{name});
  std::vector<Dims> result;
  for (const auto& param : def.params) {
    auto& dims = result.emplace_back();
    if (param.dims)
      for (const auto& dim : *param.dims) dims.push_back(symbolic_value(dim, sizes, names));
  }
  return result;
}

/// Gives the inputs of \p steps their shapes.
void set_inputs(BoundSteps& steps, const std::vector<TensorSpec>& inputs, const std::set<std::string>& symbolic) {
  for (std::size_t i = 0; i < inputs.size(); ++i) steps.set(steps.graph.inputs[i], inputs[i], {});
  if (symbolic.empty()) return;
  const auto& def = *steps.flat.frames.front().def;
  const auto dims = dims_of_params(def, lang::bind_sizes(def, steps.shapes(steps.graph.inputs)), symbolic);
  for (std::size_t i = 0; i < inputs.size(); ++i) steps.graph.tensors[steps.graph.inputs[i]].dims = dims[i];
}

/// \p graph with \p node behind its others.
void append(Graph& graph, Node node) {
  const auto index = graph.nodes.size();
  for (auto tensor : node.inputs)
    if (auto& consumers = graph.tensors[tensor].consumers; consumers.empty() || consumers.back() != index)
      consumers.push_back(index);
  for (auto tensor : node.outputs) graph.tensors[tensor].producer = index;
  graph.nodes.push_back(std::move(node));
}

}  // namespace

std::optional<Graph> bind(const std::shared_ptr<const Defs>& defs, const std::string& name,
                          const std::vector<TensorSpec>& inputs, const std::set<std::string>& symbolic) {
  auto flat = flatten(*defs, name);
  if (!flat) return std::nullopt;
  BoundSteps steps(defs, name, std::move(*flat));
  set_inputs(steps, inputs, symbolic);
  StatementDefs statement_defs(steps.graph);
  Frames frames;
  for (const auto& group : group_steps(steps.flat)) {
    check_cancelled("the graph");
    if (!begin_frames(steps, frames, group.end)) return std::nullopt;
    auto node = node_of(steps, group, statement_defs);
    if (!node) return std::nullopt;
    append(steps.graph, std::move(*node));
    end_frames(steps, frames, group.end);
  }
  return std::move(steps.graph);
}

}  // namespace tc::graph
