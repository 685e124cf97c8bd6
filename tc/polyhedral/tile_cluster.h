#pragma once

#include "tc/polyhedral/cluster_view.h"
#include "tc/polyhedral/mapping.h"

namespace tc::polyhedral {

/// Tiles a cluster as \p mapping says: its outer band, and the inner loops that become lanes; the point loops stand
/// directly above each statement, in one band, also where a sequence lies between (imperfect nests).
///
///   before  band [i, j] { S0 } { S1: band [k] }
///   after   band [i/8] band [j/48] { S0: band [i%8, j%48] } { S1: band [k]  band [i%8, j%48] }
///
/// With blocks, a band of blocks stands above the band of tiles. The outermost member comes first, alone in its band. Loops
/// with one iteration are left out. Values are counted from the smallest one, so that full tiles are those of the array;
/// they are separated from partial ones in the generated code.
struct TiledCluster {
  isl::schedule schedule;
  std::vector<int> inside;   ///< path to the node below the bands that took the place of the outer band
  std::vector<int> first;    ///< path to the node below the outermost loop, where what one of its iterations keeps is allocated
};
TiledCluster tile_cluster(const Scop& scop, const ClusterView& cluster, const ClusterMapping& mapping);

}  // namespace tc::polyhedral
