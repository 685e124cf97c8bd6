#pragma once

#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/spread/grid_cluster_state.h"

namespace tc::polyhedral {

/// Runs the statements of the cluster \p scop whose results threads along x hand to each other in all of these threads, each for itself.
///
///   before  R[i] = ...  in the thread x = 0          W[i, k] = ... R[i]  in the threads x = k mod 4      R is in shared memory
///   after   R[i, x] = ... for all of 0 <= x < 4      W[i, k] = ... R[i, k mod 4]                         R is in registers
///
/// The threads along x are a part of a warp, which executes their instructions at the same time in any case. Sums that they combine by
/// exchanges are known to each of them afterwards, so all of them write (Statement::combined_in_all). \p state learns the loop over
/// the threads that statements have got.
///
/// It is a rule and no candidate, because it executes no instruction more and saves the way through memory. Statements that write several
/// elements in each iteration of the loops that they share are left out: each thread would hold all of them.
Scop repeat_in_lanes(const Scop& scop, GridClusterState& state);

}  // namespace tc::polyhedral
