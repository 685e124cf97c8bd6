#include "tc/strategy/grid/grid_candidates.h"

#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/base/contains.h"
#include "tc/strategy/grid/choose_grid_mapping.h"
#include "tc/strategy/grid/spread_over_grid.h"
#include "tc/strategy/grid/tile_contraction.h"
#include "tc/strategy/grid/tile_plane.h"
#include "tc/strategy/grid/tile_units.h"

namespace tc::strategy {
namespace {

using polyhedral::ClusterView;
using polyhedral::GridClusterMapping;
using polyhedral::MappingOptions;
using polyhedral::Scop;

using Sizes = std::vector<std::int64_t>;

/// Threads of a block, as the option names them; none: as rules choose.
const std::vector<Sizes>& shapes_of_blocks() {
  static const auto& shapes =
      *new std::vector<Sizes>{{}, {32}, {64}, {128}, {512}, {32, 4}, {32, 8}, {64, 4}, {16, 16}, {8, 32}};
  return shapes;
}
/// Accumulators of a thread along rows and columns, and iterations of a block of the reduction.
const std::vector<Sizes>& tiles_of_threads() {
  static const auto& tiles =
      *new std::vector<Sizes>{{8, 8}, {8, 4}, {4, 8}, {4, 4}, {4, 2}, {2, 4}, {2, 8}, {8, 2}, {2, 2}};
  return tiles;
}
constexpr std::int64_t blocks_of_reductions[] = {8, 16, 32};
/// Rows and columns of the tile of a warp, and warps of a block along them, of products by units.
constexpr std::pair<std::int64_t, std::int64_t> tiles_of_warps[] = {{64, 64}, {64, 32}, {32, 64}, {32, 32},
                                                                    {16, 64}, {32, 16}, {16, 32}},
                                                warps_of_blocks[] = {{2, 4}, {4, 2}, {2, 2}, {1, 4},
                                                                     {4, 1}, {1, 2}, {2, 1}, {1, 1}};
/// Groups of warps of a block, along rows and along columns.
constexpr std::pair<std::int64_t, std::int64_t> groups_of_blocks[] = {{2, 1}, {1, 1}, {1, 2}, {2, 2}, {4, 1}};
/// Warps of a block along rows and columns, of products by multiply-adds.
constexpr std::pair<std::int64_t, std::int64_t> warps_of_products[] = {{2, 4}, {2, 2}, {1, 2}, {1, 4}};
/// Threads along rows and columns for products of few rows or columns.
constexpr std::pair<std::int64_t, std::int64_t> threads_of_few[] = {{2, 64}, {4, 32}, {4, 64},
                                                                    {8, 32}, {32, 8}, {32, 4}};
/// Rows, or columns, that are few.
constexpr std::int64_t few = 32;
/// Rows that a block has at once, along y.
constexpr std::int64_t most_rows = 16;

void add(std::vector<GridClusterMapping>& all, const GridClusterMapping& mapping) {
  if (!contains(all, mapping)) all.push_back(mapping);
}

/// \p mapping, whose threads run along loops of statements, with \p rows iterations of the innermost member that is spread over the
/// grid in one block, along y, where it has no threads; \p mapping itself where there is no such member.
GridClusterMapping with_rows(GridClusterMapping mapping, const ClusterView& cluster, std::int64_t rows) {
  for (auto i = mapping.members.size(); i-- > 0;) {
    auto& member = mapping.members[i];
    if (member.grid < 0 || member.tile != 1 || cluster.members[i].extent() < rows) continue;
    member.tile = rows;
    member.threads = {1, 1};
    mapping.block[1] = rows;
    auto& blocks = mapping.grid[static_cast<std::size_t>(member.grid)];
    blocks = std::min(blocks, ceil_div(cluster.members[i].extent(), rows));
    mapping.separate = mapping.separate || has_partial_tiles(mapping, cluster);
    return mapping;
  }
  return mapping;
}

/// Do threads run along loops of statements alone, and these along x?
bool is_of_rows(const GridClusterMapping& mapping) {
  auto in_members = std::any_of(mapping.members.begin(), mapping.members.end(),
                                [](const auto& member) { return member.threads.dimension >= 0; });
  return !in_members && !mapping.statements.empty() && mapping.block[1] == 1 && mapping.block[2] == 1;
}

/// Is more than half of a tile of \p mapping empty, along some member?
bool is_wasteful(const GridClusterMapping& mapping, const ClusterView& cluster) {
  for (std::size_t i = 0; i < mapping.members.size(); ++i)
    if (const auto& member = mapping.members[i];
        member.tile > 2 * std::max<std::int64_t>(cluster.members[i].extent(), 16))
      return true;
  return false;
}

/// \p view with other options.
ContractionView with_options(const ContractionView& view, const MappingOptions& options) {
  return {view.scop,   view.cluster, view.limits, options,      view.entry,
          view.ranges, view.reduced, view.rows,   view.columns, view.fewest};
}

/// Those that copy most operands: what threads read one by one keeps them waiting.
std::vector<GridClusterMapping> products(const ContractionView& view) {
  std::vector<GridClusterMapping> found, result;
  std::size_t copies = 0;
  for (const auto& tile : tiles_of_threads())
    for (auto block : blocks_of_reductions) {
      auto how = view.options;
      how.register_tile = tile;
      how.reduction_block = block;
      auto mapping = tile_contraction(with_options(view, how));
      if (!mapping || is_wasteful(*mapping, view.cluster)) continue;
      add(found, *mapping);
      copies = std::max(copies, mapping->copies.size());
    }
  for (const auto& mapping : found)
    if (mapping.copies.size() == copies) result.push_back(mapping);
  return result;
}

/// Products in tiles of warps, of which a block has several along rows and along columns.
std::vector<GridClusterMapping> in_warps(const ContractionView& view) {
  std::vector<GridClusterMapping> result;
  for (auto [warps_along_rows, warps_along_columns] : warps_of_products)
    for (const auto& each : tiles_of_threads())
      for (auto block : blocks_of_reductions) {
        auto how = view.options;
        how.reduction_block = block;
        const ProductTile tile{8 * warps_along_rows, 4 * warps_along_columns, each[0], each[1], true};
        const auto rows = tile.threads_along_rows * tile.rows, columns = tile.threads_along_columns * tile.columns;
        const bool all_work = view.member_extent(view.rows) > rows - rows / warps_along_rows &&
                              view.member_extent(view.columns) > columns - columns / warps_along_columns;
        if (!all_work) continue;
        auto mapping = tile_contraction(with_options(view, how), tile);
        if (mapping && mapping->copies.size() > 1 &&
            steps_between_barriers(view, *mapping) * each[0] * each[1] <= most_between_barriers)
          add(result, *mapping);
      }
  return result;
}

/// Products of few rows or few columns; a block has all of them.
std::vector<GridClusterMapping> of_few(const ContractionView& view) {
  std::vector<GridClusterMapping> result;
  const auto rows = view.member_extent(view.rows), columns = view.member_extent(view.columns);
  for (auto [threads_along_rows, threads_along_columns] : threads_of_few)
    for (std::int64_t each : {2, 4, 8})
      for (auto block : blocks_of_reductions) {
        const bool few_rows = threads_along_rows < threads_along_columns;
        if ((few_rows ? rows : columns) > few) continue;
        auto how = view.options;
        how.reduction_block = block;
        ProductTile tile{threads_along_rows, threads_along_columns, each, each};
        (few_rows ? tile.rows : tile.columns) =
            few_rows ? ceil_div(rows, threads_along_rows) : ceil_div(columns, threads_along_columns);
        if (auto mapping = tile_contraction(with_options(view, how), tile); mapping && mapping->copies.size() > 1)
          add(result, *mapping);
      }
  return result;
}

/// Tiles of warps, warps and blocks of reductions of products by units.
std::vector<GridClusterMapping> by_units(const ContractionView& view) {
  std::vector<GridClusterMapping> result;
  const auto* unit = unit_of(view);
  if (!unit) return result;
  for (auto [rows, columns] : tiles_of_warps)
    for (auto [warp_rows, warp_columns] : warps_of_blocks)
      for (std::int64_t steps : {32, 64})
        for (int slots : {4, 3, 2})
          if (auto mapping = tile_units(view, *unit, {rows, columns, warp_rows, warp_columns, steps, slots}))
            add(result, *mapping);
  for (const auto* group_unit : group_units_of(view))
    for (auto [groups_along_rows, groups_along_columns] : groups_of_blocks)
      for (int slots : {4, 5, 6, 3}) {
        UnitTile tile{group_unit->rows,     group_unit->columns, groups_along_rows,
                      groups_along_columns, unit_row_elements,   slots};
        if (auto mapping = tile_units(view, *group_unit, tile)) add(result, *mapping);
      }
  return result;
}

/// Planes of columns: rows of a thread, threads along rows, and planes.
std::vector<GridClusterMapping> planes(const ContractionView& view) {
  std::vector<GridClusterMapping> result;
  for (std::int64_t run : {4, 8, 16})
    for (std::int64_t threads : {1, 2, 4, 8})
      for (std::int64_t count : {1, 2, 4})
        if (auto mapping = tile_plane(view, {run, threads, count})) add(result, *mapping);
  return result;
}

/// \p mapping of rows with whole warps along x, and without loops along y, which has one thread.
GridClusterMapping with_whole_warps(GridClusterMapping mapping, const GridLimits& limits) {
  mapping.block[0] = round_up(mapping.block[0], limits.warp_size);
  for (auto& statement : mapping.statements)
    std::erase_if(statement.loops, [](const auto& loop) { return loop.threads.dimension > 0; });
  std::erase_if(mapping.statements, [](const auto& statement) { return statement.loops.empty(); });
  return mapping;
}

/// With threads \p along what is said, in blocks of each shape.
void add_threads(const Scop& scop, const ClusterView& cluster, const GridLimits& limits, const MappingOptions& options,
                 ThreadsAlong along, std::vector<GridClusterMapping>& all) {
  for (const auto& shape : shapes_of_blocks()) {
    auto how = options;
    how.block = shape;
    auto mapping = choose_grid_cluster(scop, cluster, limits, how, along);
    if (!is_of_rows(mapping)) {
      if (along == ThreadsAlong::Members) add(all, mapping);
      continue;
    }
    mapping = with_whole_warps(mapping, limits);
    for (std::int64_t rows = 1; rows <= most_rows && rows * mapping.block[0] <= limits.block_threads; rows *= 2)
      add(all, rows > 1 ? with_rows(mapping, cluster, rows) : mapping);
  }
}

}  // namespace

std::vector<GridClusterMapping> grid_candidates(const Scop& scop, const ClusterView& cluster, const GridLimits& limits,
                                                const MappingOptions& options) {
  std::vector<GridClusterMapping> result;
  auto view = tileable_contraction(scop, cluster, limits, options);
  if (view) result = products(*view);
  if (view)
    for (const auto& mapping : by_units(*view)) add(result, mapping);
  if (view)
    for (const auto& found : {planes(*view), of_few(*view), in_warps(*view)})
      for (const auto& mapping : found) add(result, mapping);
  if (view && tile_contraction(*view)) return result;
  for (auto along : {ThreadsAlong::Members, ThreadsAlong::Rows}) {
    add_threads(scop, cluster, limits, options, along, result);
    auto how = options;
    how.vectorise = false;
    bool same = choose_grid_cluster(scop, cluster, limits, how, along) ==
                choose_grid_cluster(scop, cluster, limits, options, along);
    if (!same) add_threads(scop, cluster, limits, how, along, result);
  }
  return result;
}

GridClusterMapping with_half_the_blocks(GridClusterMapping mapping) {
  auto most = std::max_element(mapping.grid.begin(), mapping.grid.end());
  *most = ceil_div(*most, 2);
  return mapping;
}

}  // namespace tc::strategy
