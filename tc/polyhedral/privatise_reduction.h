#pragma once

#include "tc/polyhedral/mapping.h"
#include "tc/polyhedral/scop.h"

namespace tc::polyhedral {

/// Gives the accumulating statement \p choice.id private accumulators for the lanes of its reduction iterator
/// \p choice.iterator, W = lanes * unroll of them, and combines these at the end.
///
///   before  U[i, k]: C[i] += ...              after  U_identity[i, w]: lanes_U[i, w] = 0             0 <= w < W
///                                                    U[i, k]:          lanes_U[i, k mod W] += ...
///                                                    U_combine[i, w]:  C[i] += lanes_U[i, w]
///
/// The loops below the place where U stands alone must be over reduction iterators. Adds the mappings of the new statements
/// to \p cluster; lanes_U is a Workspace tensor to be contracted.
Scop privatise_reduction(const Scop& scop, const std::vector<int>& cluster_path, const StatementMapping& choice,
                         ClusterMapping& cluster);

}  // namespace tc::polyhedral
