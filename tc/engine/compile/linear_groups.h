#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "tc/graph/graph.h"

namespace tc::engine {

/// The most nodes that are derived as one program: the programs that a search makes grow with their pairs.
constexpr std::size_t most_nodes_together = 4;

/// Nodes of \p graph that are derived as one program: sums of products and copies, one of them a product, that read each other's
/// results or the same tensor, between what is neither: nodes of other kinds split a graph, as activations do. No way
/// leads out of a group and back. Nodes that the inputs \p constants decide, and tensors made by them, belong to none.
///
///   Q = fc(X, A)  K = fc(X, B)  S = softmax(Q)  Y = fc(S, C)  Z = fc(Y, D)        {Q, K} {Y, Z}
///
/// Source: EINNET (OSDI 2023), section 5.3: a program is split at non-linear operators.
std::vector<std::vector<std::size_t>> linear_groups(const graph::Graph& graph, const std::set<std::string>& constants);

}  // namespace tc::engine
