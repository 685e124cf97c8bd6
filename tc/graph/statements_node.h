#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "tc/graph/bound_steps.h"

namespace tc::graph {

/// Defs made from statements of a graph, checked; equal ones once.
class StatementDefs {
 public:
  explicit StatementDefs(const Graph& graph) : defs_(*graph.defs), name_(graph.name) {}
  /// \p def checked, with its ranges: what was found for an equal one before; \p by_name: only for one with the same
  /// names, as a message may tell them. Throws ArgumentError where the statements do not fit the sizes.
  std::shared_ptr<const lang::InlinedDef> understood_once(const lang::Def& def, bool by_name);

 private:
  const Defs& defs_;
  std::string name_;
  std::map<std::string, std::shared_ptr<const lang::InlinedDef>> known_;
};

/// The statements of \p group, whose frames have begun, as one node with a def of their own; \p indirect: a def that one
/// of them calls has indirect subscripts. Nothing where steps of several frames write one tensor that begins elsewhere
/// than at index 0 for one of them.
///
///   A(i) = X(i) * 2   A(i) += X(i)        def main(float(4) X0) -> (float Y0) { Y0(i) = X0(i) * 2   Y0(i) += X0(i) }
std::optional<Node> statements_node(const BoundSteps& steps, const StepGroup& group, bool indirect,
                                    StatementDefs& defs);

}  // namespace tc::graph
