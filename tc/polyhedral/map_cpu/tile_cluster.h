#pragma once

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/map/cluster_state.h"

namespace tc::polyhedral {

/// Paths to the nodes of a tiled cluster.
struct TilePlaces {
  std::vector<int> start;   ///< its first node, the outermost loop
  std::vector<int> first;   ///< below the outermost loop
  std::vector<int> copies;  ///< below the loops `above` and the reduction's blocks
  std::vector<int> block;   ///< below the blocks
  std::vector<int> inside;  ///< below all of them

  bool has_outermost() const { return first != start; }
};

struct TiledCluster {
  isl::schedule schedule;
  TilePlaces places;
};

/// Tiles \p cluster as \p state says: its outer band, and the inner loops that become lanes; the point loops stand
/// directly above each statement, in one band, also where a sequence lies between (imperfect nests).
///
///   before  band [i, j] { S0 } { S1: band [k] }
///   after   band [i/8] band [j/48] { S0: band [i%8, j%48] } { S1: band [k]  band [i%8, j%48] }
///
/// The loops of the outer band stand in the order ClusterMapping says, with the blocks of a cut reduction between them.
/// Loops with one iteration are left out, but for the tile of a block where the last one is partial, and where no other
/// loop of tiles is left: they tell full tiles from partial ones. Values are counted from the smallest one, so that full tiles are those of the array;
/// they are separated from partial ones in the generated code.
TiledCluster tile_cluster(const Scop& scop, const ClusterView& cluster, const ClusterState& state);

}  // namespace tc::polyhedral
