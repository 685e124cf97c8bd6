#pragma once

#include <optional>
#include <vector>

#include "tc/engine/compile/compile.h"
#include "tc/graph/graph.h"

namespace tc::engine {

/// \p depth, if options.derive may be that. Throws OptionsError for a negative one.
int checked_derive(int depth);

/// A derived program is taken where it is so many times as cheap as the node by the model, which is no better than that in telling
/// different programs apart: benchmarks/derivation.py.
constexpr double least_derived_gain = 1.5;

/// \p graph with nodes computed by equal programs, and what became of which.
struct DerivedPlan {
  graph::Graph graph;
  std::vector<DerivedNode> nodes;  ///< equal nodes once
};

/// \p graph with each node that reduces computed by the cheapest program that rules derive from it to depth options.derive
/// (derive::derive), where it is cheaper by least_derived_gain. All are priced by price_function(), statements that constants
/// decide at nothing. Each derivation has been proved. Nothing where options.derive is 0, or no node is worth it.
std::optional<DerivedPlan> derive_nodes(const graph::Graph& graph, const CompileOptions& options);

}  // namespace tc::engine
