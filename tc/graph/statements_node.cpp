#include "tc/graph/statements_node.h"

#include <algorithm>
#include <set>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/graph/make_def.h"
#include "tc/graph/statement/rewrite_statement.h"
#include "tc/graph/step_statement.h"
#include "tc/lang/syntax/print.h"

namespace tc::graph {
namespace {

/// The tensors that assignments of several frames touch, of those that \p group writes. A call passes on a tensor as
/// one that begins at index 0, so that its indices are other ones on both sides unless it does.
std::set<std::size_t> written_in_several_frames(const BoundSteps& steps, const StepGroup& group) {
  std::map<std::size_t, std::set<std::size_t>> frames;
  for (auto s = group.first; s < group.end; ++s) {
    const auto& step = steps.flat.steps[s];
    if (!std::holds_alternative<lang::Assignment>(step.statement->node)) continue;
    for (const auto* list : {&step.reads, &step.writes})
      for (auto tensor : *list) frames[tensor].insert(step.frame);
  }
  std::set<std::size_t> result;
  for (const auto& [tensor, those] : frames)
    if (those.size() > 1 && !steps.known[tensor]) result.insert(tensor);
  return result;
}

/// A return of a node: with the type it has in the text, and where that declares sizes, those.
Operand return_operand(const BoundSteps& steps, std::size_t tensor, const Step& step) {
  return {steps.graph.tensors[tensor].name,
          steps.flat.tensors[tensor].type,
          {},
          {},
          std::holds_alternative<lang::Assignment>(step.statement->node)};
}

/// Statements of a group with what they read and write, not understood yet.
struct Sketch {
  Node node;
  DefSketch def;
};

Sketch sketch_of(const BoundSteps& steps, const StepGroup& group) {
  Sketch result{{}, {steps.graph.name, {}, {}, {}}};
  auto& node = result.node;
  std::set<std::size_t> written, seen;
  for (auto s = group.first; s < group.end; ++s)
    written.insert(steps.flat.steps[s].writes.begin(), steps.flat.steps[s].writes.end());
  const auto give = [&](std::size_t tensor, const Step& step) {
    node.outputs.push_back(tensor);
    result.def.returns.push_back(return_operand(steps, tensor, step));
  };
  for (auto s = group.first; s < group.end; ++s) {
    const auto& step = steps.flat.steps[s];
    node.statements.push_back(step_statement(steps, step, written));
    for (auto tensor : step.reads)
      if (!written.count(tensor) && reads(node.statements.back(), steps.graph.tensors[tensor].name) &&
          seen.insert(tensor).second)
        node.inputs.push_back(tensor);
    for (auto tensor : step.writes)
      if (steps.is_seen(tensor, group) && seen.insert(tensor).second) give(tensor, step);
  }
  for (auto tensor : node.inputs) {
    const auto& known = steps.graph.tensors[tensor];
    result.def.params.push_back({known.name, known.spec.dtype, known.spec.shape, known.mins, true, known.dims});
  }
  const auto& last = steps.flat.steps[group.end - 1];
  if (node.outputs.empty()) give(last.writes.back(), last);
  result.def.statements = node.statements;
  return result;
}

}  // namespace

std::shared_ptr<const lang::InlinedDef> StatementDefs::understood_once(const lang::Def& def, bool by_name) {
  auto& known = known_[by_name ? lang::print(def) : lang::canonical_text(def)];
  try {
    if (!known) known = understood(def, defs_);
  } catch (const SemanticError& error) {
    throw ArgumentError(str("a statement of '", name_, "' does not fit the sizes of these tensors:\n", error.what(),
                            "\nwith sizes as numbers:\n", lang::print(def)));
  }
  return known;
}

std::optional<Node> statements_node(const BoundSteps& steps, const StepGroup& group, bool indirect,
                                    StatementDefs& defs) {
  auto sketch = sketch_of(steps, group);
  auto& node = sketch.node;
  const auto shared = written_in_several_frames(steps, group);
  const bool keeps_names = indirect || !shared.empty() || has_indirect_subscript(node.statements);
  node.def = defs.understood_once(make_def(keeps_names ? sketch.def : with_plain_names(sketch.def)), keeps_names);
  const auto sizes = lang::bind_sizes(node.def->def, steps.shapes(node.inputs));
  for (auto tensor : shared)
    for (const auto& range : lang::evaluate_box(node.def->ranges.tensors.at(steps.graph.tensors[tensor].name), sizes))
      if (range.min != 0) return std::nullopt;
  return std::move(node);
}

}  // namespace tc::graph
