#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/map/cluster_state.h"

namespace tc::polyhedral {

/// Gives the accumulating statement \p choice.id private accumulators for the lanes of its reduction iterator
/// \p choice.iterator, W = lanes * unroll of them. At the end those of several vectors are folded onto the first one,
/// lane by lane, and its lanes combined.
///
///   before  U[i, k]: C[i] += ...    after  U_identity[i, w]: lanes_U[i, w] = 0                        0 <= w < W
///                                          U[i, k]:          lanes_U[i, k mod W] += ...
///                                          U_fold[i, w]:     lanes_U[i, w mod lanes] += lanes_U[i, w] lanes <= w < W
///                                          U_combine[i, w]:  C[i] += lanes_U[i, w]                    0 <= w < lanes
///
/// The loops below the place where U stands alone must be over reduction iterators. \p cluster learns how the new
/// statements run; lanes_U is a Workspace tensor to be contracted.
Scop privatise_reduction(const Scop& scop, const std::vector<int>& cluster_path, const StatementMapping& choice,
                         ClusterState& cluster);

/// Gives the accumulating statement \p id, alone below the node at \p place, private accumulators for the \p threads
/// that run its reduction iterator \p iterator, \p run iterations in turn: as above with part floor(k / run) mod
/// threads, without folding. Returns the ids of the two new statements; their last iterator counts the threads.
/// lanes_U, the last tensor, is a Workspace tensor to be contracted.
std::pair<Scop, std::vector<std::string>> privatise_for_threads(const Scop& scop, const std::vector<int>& place,
                                                                const std::string& id, int iterator, std::int64_t run,
                                                                std::int64_t threads);

/// A program whose update accumulates in parts, and the statements that start and join them, which are not in it yet.
struct PrivateParts {
  Scop scop;
  Statement start, join;
};

/// Gives the accumulating statement \p id private accumulators, \p count of them in each of some dimensions; \p index,
/// of its dimensions i0, i1, ..., says which one an instance has. With \p parts_first these dimensions come before
/// those of the result. The schedule is left for the caller to make.
///
///   before  U[i, p, k]: C[i] += ...           after  U_identity[i, w]: parts_U[i, w] = 0
///                                                    U[i, p, k]:       parts_U[i, p] += ...
///                                                    U_combine[i, w]:  C[i] += parts_U[i, w]
PrivateParts privatise_parts(const Scop& scop, const std::string& id, const std::vector<std::string>& index,
                             const std::vector<std::int64_t>& count, bool parts_first = false);

/// Gives the reduction cluster.reduction an accumulator for each of its blocks, which the loop of reduction_blocks
/// (inserted by tile_cluster) then runs one after the other.
///
///   before  U[i, k]: C[i] += ...              after  U_identity[i, w]: parts_U[i, w] = 0
///                                                    U[i, k]:          parts_U[i, k/512] += ...
///                                                    U_combine[i, w]:  C[i] += parts_U[i, w]
///
/// \p cluster learns the new statements (ClusterState::counting_blocks), how they run, and parts_U, a Workspace tensor to
/// be contracted (ClusterState::temporaries).
Scop block_reduction(const Scop& scop, const std::vector<int>& cluster_path, ClusterState& cluster);

/// The loop over the blocks of \p reduction for the statements at \p node: \p counting ones have their own number of it,
/// others before the update run in the first block, others after it in the last one.
isl::union_pw_aff reduction_blocks(const Scop& scop, const isl::schedule_node& node, const ReductionBlock& reduction,
                                   const std::vector<std::string>& counting);

}  // namespace tc::polyhedral
