#include "tc/polyhedral/spread/tile_members.h"

#include <algorithm>

#include "tc/base/str.h"
#include "tc/polyhedral/core/loops.h"
#include "tc/polyhedral/spread/thread_map.h"

namespace tc::polyhedral {
namespace {

/// Gives the iterations of \p loop, \p values of them, each of which is one of \p tile, to blocks.
void give_to_blocks(const isl::union_pw_aff& tile, std::int64_t values, const NestLoop& loop, MemberTiles& result) {
  const auto blocks = loop.blocks > 0 ? std::min(values, loop.blocks) : values;
  if (blocks <= 1) return;
  const auto dimension = static_cast<std::size_t>(loop.dimension);
  const auto block = values > blocks ? remainder(tile, blocks) : tile;
  result.grid[dimension] = blocks;
  result.blocks[dimension] = block;
  result.filter = result.filter.intersect(equal_to(block, block_name(loop.dimension)));
}

}  // namespace

MemberTiles tile_members(const isl::schedule_node& band, const ClusterView& view, const Nest& nest) {
  const auto domain = instances_at(band);
  MemberTiles result{{}, {}, {}, everywhere(domain), {}};
  if (view.members.empty() || !band.isa<isl::schedule_node_band>()) return result;
  const auto members = band_members(band);
  for (std::size_t m = 0; m < members.size(); ++m)
    result.points.emplace_back(from_origin(members[m], view.members[m].min, domain), view.members[m].extent(), true);
  std::vector<std::string> begins(members.size());
  for (const auto& step : nest.trunk) {
    if (std::holds_alternative<NestSeparate>(step.what))
      for (std::size_t m = 0; m < members.size(); ++m) {
        const auto tile = result.points[m].extent();
        if (begins[m].empty() || view.members[m].is_multiple_of(tile)) continue;
        if (const auto end = extent_text(view.members[m], members[m], domain))
          result.full.push_back(str(begins[m], "+", tile, "<=", *end));
      }
    const auto* loop = std::get_if<NestLoop>(&step.what);
    if (!loop) continue;
    const auto m = static_cast<std::size_t>(loop->digit.index.number);
    auto& index = result.points.at(m);
    const auto size = loop->digit.step;
    const auto tile = index.digit(size);
    begins[m] += str(begins[m].empty() ? "" : "+", size, "*t", result.tiles.size());
    result.tiles.push_back({tile, true});
    if (loop->place == NestPlace::Grid) give_to_blocks(tile, index.values(size), *loop, result);
    index = index.below(size);
  }
  return result;
}

}  // namespace tc::polyhedral
