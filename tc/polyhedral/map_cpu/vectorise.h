#pragma once

#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/map/cluster_state.h"

namespace tc::polyhedral {

/// Turns the band directly above each statement of the cluster at \p path into vectors, as \p cluster says.
///
///   before  S1: band [i%8, j%48]
///   after   S1: register  band [i%8, (j%48)/16]  vector  band [(j%48)%16]
///
/// In an accumulating statement the vectors of a row come last, after them the iterations of a dot product. The mark
/// `register` is left out where the loops are to stay loops. Sets Statement::vector_lanes.
Scop vectorise(const Scop& scop, const std::vector<int>& path, const ClusterState& cluster);

}  // namespace tc::polyhedral
