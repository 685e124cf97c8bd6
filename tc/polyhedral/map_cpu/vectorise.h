#pragma once

#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/map_cpu/cpu_cluster.h"

namespace tc::polyhedral {

/// Turns the band directly above each statement of \p cluster into its points, in the order of the nest's branch.
///
///   before  S1: band [i%8, j%48]                             S1: i%8 unrolled  j%48/16 unrolled  j%16 lanes
///   after   S1: register  band [i%8, (j%48)/16]  vector  band [(j%48)%16]
///
/// Statements that passes have added run along lanes as these said, the loops in the order of the band. The mark
/// `register` is left out where the loops are to stay loops. Sets Statement::vector_lanes.
Scop vectorise(const Scop& scop, const CpuCluster& cluster);

}  // namespace tc::polyhedral
