#pragma once

#include <cstddef>
#include <vector>

#include "tc/graph/graph.h"

namespace tc::graph {

/// A graph some of whose nodes were several, and which these are.
struct MergedGraph {
  Graph graph;
  std::vector<std::size_t> merged;  ///< the node that each group became
};

/// \p graph with the nodes of each of \p groups, which share none, as one node of a def without calls (def_of). Nodes stand in
/// an order in which each reads what stands before it.
///
///   A = fc(X, W)  S = sum(X)  B = fc(A, V)        groups {{0, 2}}        S = sum(X)  A, B = <fc, fc>(X, W, V)
///
/// Throws InternalError where a way leads out of a group and back: then no order would do.
MergedGraph merge_nodes(const Graph& graph, const std::vector<std::vector<std::size_t>>& groups);

}  // namespace tc::graph
