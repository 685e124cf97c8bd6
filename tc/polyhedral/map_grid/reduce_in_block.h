#pragma once

#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/spread/grid_cluster_state.h"

namespace tc::polyhedral {

/// Runs the reductions of the cluster \p scop that the nest of \p state has on threads along x in all of a block's
/// threads: each accumulates privately, then the threads of a warp combine their values, then thread 0 those of the
/// warps.
///
///   before  U[i, k]: C[i] += ...        after  U_identity[i, w]: lanes_U[i, w] = 0             0 <= w < threads
///                                              U[i, k]:          lanes_U[i, k mod threads] += ...
///                                              U_combine[i, w]:  warps_U[i, w/32] = lanes_U[i, w], combined over w mod 32
///                                              U_join[i, v]:     C[i] += warps_U[i, v]         0 <= v < threads/32
///
/// With one warp U_combine adds to C[i] itself. Where x has no whole warps, thread 0 combines what all threads have.
/// \p state learns how the new statements run, and the new tensors, which are to be promoted.
Scop reduce_in_block(const Scop& scop, GridClusterState& state);

}  // namespace tc::polyhedral
