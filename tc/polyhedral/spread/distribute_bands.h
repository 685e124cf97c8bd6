#pragma once

#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/spread/grid_cluster_state.h"

namespace tc::polyhedral {

/// Takes bands around several statements, all members of which the threads of a block share, below these if reads of one of them, of
/// \p readers, are copied: each statement then has its loops for itself, and copies may stand between them.
///
///   before  band [w] { S0 } { S1: band [k] }      both branches begin with w/4 on thread.x
///   after   { S0: band [w] } { S1: band [w] band [k] }
///
/// No instance in such a band, which is coincident, depends on one in another iteration of it.
Scop distribute_bands(const Scop& scop, const GridClusterState& state, const std::vector<std::string>& readers);

}  // namespace tc::polyhedral
