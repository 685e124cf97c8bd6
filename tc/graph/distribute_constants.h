#pragma once

#include <optional>
#include <set>
#include <string>

#include "tc/graph/graph.h"

namespace tc::graph {

/// A graph in which constants stand inside of sums.
struct DistributedGraph {
  Graph graph;
  std::size_t sums = 0;  ///< how many were rewritten
};

/// \p graph with what scales and shifts a sum of products by its inputs \p constants alone moved to where constants alone decide it:
/// by distributivity, a factor is multiplied into a constant factor of what is summed, all of whose subscripts decide it,
/// and what is added becomes one tensor.
///
///   S = Σ_r X(n,r) * W(k,r)   B = S + b(k)   Y = (B - m(k)) * s(k) + t(k)
///
///   V = W(k,r) * s(k)   z = (b(k) - m(k)) * s(k) + t(k)   S = Σ_r X(n,r) * V(k,r)   Y = S + z(k)
///
/// Padding, strides, groups and what else the sum reads do not matter, nor does where statements stand: in one def or in several, with
/// reshapes between them. Sums of floats of one type, which nothing else reads; results differ by rounding. Nothing where there is no such
/// sum.
std::optional<DistributedGraph> distribute_constants(const Graph& graph, const std::set<std::string>& constants);

}  // namespace tc::graph
