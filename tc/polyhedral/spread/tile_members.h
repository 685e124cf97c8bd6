#pragma once

#include <array>
#include <string>
#include <vector>

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/nest/nest.h"
#include "tc/polyhedral/spread/grid_loops.h"

namespace tc::polyhedral {

/// The members of a cluster's outer band as the loops of a trunk and their rests, and which block runs which tile.
struct MemberTiles {
  GridLoops tiles;                ///< one for each loop of the trunk
  std::vector<OpenIndex> points;  ///< what is left of each member
  std::vector<std::string> full;  ///< conditions on the loops over tiles for full ones, for isolate()
  isl::union_set filter;          ///< the instances of the block that parameters name
  std::array<Nullable<isl::union_pw_aff>, 3> blocks;  ///< coordinates of the block of an instance; null: all 0
  std::array<std::int64_t, 3> grid = {1, 1, 1};       ///< blocks that are used
};

/// Cuts the members of \p band, the outer one of the cluster that \p view is of, as the trunk of \p nest says; all of them
/// stay whole where \p band is none.
///
///   before  band [i, j], i/8 on grid.y, j/32 on grid.x
///   after   tiles [i/8, j/32], points [i%8, j%32], filter { floor(i/8) = block_y, floor(j/32) = block_x }
MemberTiles tile_members(const isl::schedule_node& band, const ClusterView& view, const Nest& nest);

}  // namespace tc::polyhedral
