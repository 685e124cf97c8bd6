#include "tc/polyhedral/map_grid/tile_members.h"

#include <algorithm>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/polyhedral/core/loops.h"
#include "tc/polyhedral/map_grid/thread_map.h"

namespace tc::polyhedral {
namespace {

/// Gives the tile number \p tile, of \p count, to the blocks of dimension \p dimension, of which there are \p most.
void give_to_blocks(const isl::union_pw_aff& tile, std::int64_t count, int dimension, std::int64_t most,
                    MemberTiles& result) {
  auto blocks = std::min(count, most);
  if (blocks <= 1) return;
  if (result.grid[dimension] > 1) throw InternalError("two members are spread over one dimension of the grid");
  auto block = count > blocks ? remainder(tile, blocks) : tile;
  result.grid[dimension] = blocks;
  result.blocks[dimension] = block;
  result.filter = result.filter.intersect(equal_to(block, block_name(dimension)));
}

}  // namespace

MemberTiles tile_members(const isl::schedule_node& band, const ClusterView& view, const GridClusterMapping& mapping) {
  auto domain = instances_at(band);
  MemberTiles result{{}, {}, {}, everywhere(domain), {}};
  if (view.members.empty() || !band.isa<isl::schedule_node_band>()) return result;
  auto members = band_members(band);
  for (std::size_t i = 0; i < members.size(); ++i) {
    auto choice = i < mapping.members.size() ? mapping.members[i] : GridMember{.tile = 0};
    auto extent = view.members[i].extent();
    auto index = from_origin(members[i], view.members[i].min, domain);
    auto tile = choice.tile == 0 ? extent : choice.tile;
    auto count = (extent + tile - 1) / tile;
    if (count > 1) {
      if (mapping.separate && extent % tile != 0)
        result.full.push_back(str(tile, "*t", result.tiles.size(), "+", tile, "<=", extent));
      auto number = tile > 1 ? quotient(index, tile) : index;
      result.tiles.push_back({number, count, true, {}});
      if (choice.grid >= 0) give_to_blocks(number, count, choice.grid, mapping.grid[choice.grid], result);
    }
    if (tile > 1 && extent > 1)
      result.points.push_back(point_loop(index, tile, count > 1, std::min(tile, extent), choice.threads));
  }
  return result;
}

}  // namespace tc::polyhedral
