#include "tc/strategy/grid/spread_over_grid.h"

#include <algorithm>

#include "tc/base/ceil_div.h"

namespace tc::strategy {
namespace {

/// Blocks of dimension \p dimension at most.
std::int64_t most_blocks(const GridLimits& limits, const std::vector<std::int64_t>& given, std::size_t dimension) {
  if (given.empty()) return limits.grid[dimension];
  return dimension < given.size() ? std::min(given[dimension], limits.grid[dimension]) : 1;
}

}  // namespace

polyhedral::GridClusterMapping spread_over_grid(polyhedral::GridClusterMapping mapping,
                                                const polyhedral::ClusterView& cluster, const std::vector<int>& order,
                                                const GridLimits& limits, const std::vector<std::int64_t>& given) {
  std::size_t dimension = 0;
  for (int member : order) {
    auto tiles = tile_count(mapping, cluster, member);
    if (tiles <= 1 || dimension == mapping.grid.size()) continue;
    mapping.members[member].grid = static_cast<int>(dimension);
    mapping.grid[dimension] = std::min(tiles, most_blocks(limits, given, dimension));
    ++dimension;
  }
  return mapping;
}

std::int64_t tile_count(const polyhedral::GridClusterMapping& mapping, const polyhedral::ClusterView& cluster,
                        int member) {
  auto extent = cluster.members[member].extent(), tile = mapping.members[member].tile;
  return tile == 0 ? std::min<std::int64_t>(extent, 1) : ceil_div(extent, tile);
}

bool has_partial_tiles(const polyhedral::GridClusterMapping& mapping, const polyhedral::ClusterView& cluster) {
  for (std::size_t i = 0; i < cluster.members.size(); ++i)
    if (auto tile = mapping.members[i].tile; tile > 1 && !cluster.members[i].is_multiple_of(tile)) return true;
  return false;
}

}  // namespace tc::strategy
