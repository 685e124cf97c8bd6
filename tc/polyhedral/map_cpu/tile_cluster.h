#pragma once

#include "tc/polyhedral/map_cpu/cpu_cluster.h"

namespace tc::polyhedral {

struct TiledCluster {
  isl::schedule schedule;
  TilePlaces places;
};

/// Makes the loops of the nest of \p cluster: the trunk's loops in place of the outer band, the points of each branch
/// (branch_points.h) directly above the statement, in one band, also where a sequence lies between (imperfect nests).
///
///   before  band [i, j] { S0 } { S1: band [k] }
///   after   band [i/8] band [j/48] { S0: band [i%8, j%48] } { S1: band [k]  band [i%8, j%48] }
///
/// Values are counted from the smallest one, so that tiles begin where the array does. Full tiles are separated from partial ones in the
/// generated code, as far inside as copies stand. A loop over tiles that has one iteration is made for this where none is left.
TiledCluster tile_cluster(const Scop& scop, const CpuCluster& cluster);

}  // namespace tc::polyhedral
