#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "tc/graph/graph.h"

namespace tc::engine {

/// The most products that are derived as one program: the programs that a search makes grow with their pairs.
constexpr std::size_t most_products_together = 4;

/// Nodes of \p graph that are derived as one program: sums of products, copies and sums of scaled tensors, one of them a sum of
/// products, that read each other's results or the same tensor, between what is not linear: such nodes split a graph, as
/// activations do. Scales are numbers and tensors that never change. No way
/// leads out of a group and back. Nodes that the inputs \p constants decide, and tensors made by them, belong to none.
///
///   Q = fc(X, A)  K = fc(X, B)  S = softmax(Q)  Y = fc(S, C)  Z = fc(Y, D)        {Q, K} {Y, Z}
///
/// Source: EINNET (OSDI 2023), section 5.3: a program is split at non-linear operators.
std::vector<std::vector<std::size_t>> linear_groups(const graph::Graph& graph, const std::set<std::string>& constants);

}  // namespace tc::engine
