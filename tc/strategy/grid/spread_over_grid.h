#pragma once

#include <cstdint>
#include <vector>

#include "tc/base/target.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/map/grid_mapping.h"

namespace tc::strategy {

/// \p mapping, in which the tiles of \p cluster are chosen, with these spread over the blocks of a grid: of the members
/// in \p order that have several tiles, the first three go to x, y and z. A dimension has a block for each tile, up to
/// the machine's \p limits and the blocks that are \p given, where these are; blocks go round.
///
///   before  member 0 tile 128, member 1 tile 64     of 1024 iterations each, order 1, 0
///   after   grid 16x8, member 0 tile 128 blocks y, member 1 tile 64 blocks x
///   given 4 grid 4x1, the same members: a block of x takes every fourth tile, all rows of tiles
polyhedral::GridClusterMapping spread_over_grid(polyhedral::GridClusterMapping mapping,
                                                const polyhedral::ClusterView& cluster, const std::vector<int>& order,
                                                const GridLimits& limits, const std::vector<std::int64_t>& given);

/// How many tiles the member number \p member of \p cluster has in \p mapping.
std::int64_t tile_count(const polyhedral::GridClusterMapping& mapping, const polyhedral::ClusterView& cluster,
                        int member);
/// Is the last tile of some member of \p cluster smaller than the others?
bool has_partial_tiles(const polyhedral::GridClusterMapping& mapping, const polyhedral::ClusterView& cluster);

}  // namespace tc::strategy
