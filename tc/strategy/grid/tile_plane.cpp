#include "tc/strategy/grid/tile_plane.h"

#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/base/dtype.h"
#include "tc/strategy/grid/contraction_copies.h"
#include "tc/strategy/grid/read_whole_sectors.h"
#include "tc/strategy/grid/spread_over_grid.h"
#include "tc/strategy/grid/tile_contraction.h"

namespace tc::strategy {
namespace {

using polyhedral::GridClusterMapping;

/// Columns of a plane, at most: of more, 16 threads have whole rounds (tile_contraction.h).
constexpr std::int64_t most_columns = 31;

/// Is \p member indexed by the operand of the columns, and not by that of the rows?
bool is_beside_columns(const ContractionView& view, int member) {
  if (member == view.rows || member == view.columns) return false;
  for (int read = 0; read < view.reads(); ++read) {
    if (view.is_subscript(read) || !view.is_shared(read)) continue;
    const bool of_columns = view.depends_on(read, view.iterator(view.columns));
    if (view.depends_on(read, view.iterator(member)) != of_columns) return false;
  }
  return true;
}

/// The last member beside the columns, the other side of the plane; -1 without one.
int find_height(const ContractionView& view) {
  for (int i = static_cast<int>(view.cluster.members.size()); i-- > 0;)
    if (is_beside_columns(view, i)) return i;
  return -1;
}

/// The longest member beside columns and height, that counts planes; -1 without one.
int find_planes(const ContractionView& view, int height) {
  int result = -1;
  for (int i = 0; i < static_cast<int>(view.cluster.members.size()); ++i)
    if (i != height && is_beside_columns(view, i) && (result < 0 || view.member_extent(i) > view.member_extent(result)))
      result = i;
  return result;
}

/// Registers of a thread for addresses and loops.
constexpr std::int64_t registers_beside = 32;

/// Registers of a block for accumulators, what is loaded for them, and the rest.
std::int64_t registers_of(const ContractionView& view, const PlaneTile& tile, std::int64_t threads) {
  const auto type = view.scop.tensor(polyhedral::range_name(view.update().write.relation)).type;
  return (2 * tile.run * tile.planes * ceil_div(byte_size(type), 4) + registers_beside) * threads;
}

}  // namespace

std::optional<GridClusterMapping> tile_plane(const ContractionView& view, const PlaneTile& tile) {
  const auto columns = view.member_extent(view.columns);
  const int height = find_height(view), planes = height < 0 ? -1 : find_planes(view, height);
  const auto rows = tile.run * tile.threads;
  const bool fits = height >= 0 && columns <= most_columns && rows <= view.member_extent(view.rows) &&
                    (tile.planes == 1 || (planes >= 0 && tile.planes <= view.member_extent(planes)));
  if (!fits) return std::nullopt;
  const auto room = view.limits.block_threads / (columns * tile.threads);
  const auto tall = std::min({view.member_extent(height), room, view.limits.block[1]});
  const auto threads = columns * tall * tile.threads;
  if (tall < 1 || tile.threads > view.limits.block[2] || threads < view.limits.warp_size) return std::nullopt;
  GridClusterMapping result;
  const auto member = [&](int number) -> polyhedral::GridMember& {
    return result.members[static_cast<std::size_t>(number)];
  };
  result.members.assign(view.cluster.members.size(), {1, -1, {}});
  member(view.rows) = {rows, -1, {2, tile.run}};
  member(view.columns) = {columns, -1, {0, 1}};
  member(height) = {tall, -1, {1, 1}};
  if (tile.planes > 1) member(planes).tile = tile.planes;
  result.block = {columns, tall, tile.threads};
  result.others.tile = result.others.unroll = true;
  result.separate = has_partial_tiles(result, view.cluster);
  const auto registers = registers_of(view, tile, threads);
  if (registers > view.limits.multiprocessor_registers) return std::nullopt;
  result.blocks_per_multiprocessor = 2 * registers <= view.limits.multiprocessor_registers ? 2 : 1;
  result = choose_copies(view, result);
  if (result.copies.size() < 2 || leaves_gathers(view, result)) return std::nullopt;
  if (steps_between_barriers(view, result) * tile.run * tile.planes > most_between_barriers / 2) return std::nullopt;
  result = copy_subscripts(view, choose_slots(view, result));
  result = read_whole_sectors(staged(view, result), view.scop, view.cluster, view.limits);
  return spread_over_grid(std::move(result), view.cluster, grid_order(view), view.limits, view.options.grid);
}

}  // namespace tc::strategy
