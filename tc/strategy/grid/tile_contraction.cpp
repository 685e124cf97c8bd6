#include "tc/strategy/grid/tile_contraction.h"

#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/base/count_product.h"
#include "tc/base/dtype.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/strategy/grid/contraction_copies.h"
#include "tc/strategy/grid/copy_gathers.h"
#include "tc/strategy/grid/read_whole_sectors.h"
#include "tc/strategy/grid/spread_over_grid.h"

namespace tc::strategy {
namespace {

using polyhedral::GridClusterMapping;

/// Registers of a thread for each of its accumulators, with what it loads for them.
constexpr std::int64_t own_registers = 2;

/// Threads of a warp along rows and along columns.
constexpr std::int64_t lanes_along_rows = 8, lanes_along_columns = 4;

/// Threads of a block along rows and along columns.
constexpr std::int64_t threads_along = 16;

/// How many of its \p each neighbouring rows or columns a thread has at once.
std::int64_t run_of(std::int64_t each) { return each % 4 == 0 ? 4 : each % 2 == 0 ? 2 : 1; }

/// Blocks with which tiles may be large: one a multiprocessor, unless the user wants fewer.
std::int64_t enough_blocks(const ContractionView& view) {
  std::int64_t given = 1;
  for (auto blocks : view.options.grid) given = count_product(given, blocks);
  return view.options.grid.empty() ? view.limits.multiprocessors : std::min(given, view.limits.multiprocessors);
}

/// A tile with as many threads along rows as along columns.
ProductTile square(std::int64_t rows, std::int64_t columns) { return {threads_along, threads_along, rows, columns}; }

/// The largest thread's tile for which there are tiles enough for the multiprocessors, or the one that the user gives;
/// nothing where the result is too small for any.
std::optional<ProductTile> product_tile(const ContractionView& view) {
  const auto& given = view.options.register_tile;
  std::int64_t others = 1;
  for (int i = 0; i < static_cast<int>(view.cluster.members.size()); ++i)
    if (i != view.rows && i != view.columns) others = count_product(others, view.member_extent(i));
  auto rows = view.member_extent(view.rows), columns = view.member_extent(view.columns);
  for (std::int64_t size : {128, 64, 32}) {
    auto each = size / threads_along;
    if (!given.empty()) return given.size() == 2 ? square(given[0], given[1]) : square(each, each);
    auto count = count_product(others, count_product(ceil_div(rows, size), ceil_div(columns, size)));
    auto half = size > 32 ? size / 2 + 1 : size / 2;
    bool wasteful = rows < half || columns < half;
    if (!wasteful && (size == 32 || count >= enough_blocks(view))) return square(each, each);
  }
  return std::nullopt;
}

/// Lets warps of 8 x 4 threads, along y and z of the block, have tiles of their own in \p mapping.
void give_to_warps(const ContractionView& view, const ProductTile& each, GridClusterMapping& mapping) {
  auto &rows = mapping.members[view.rows], &columns = mapping.members[view.columns];
  const auto along_rows = each.threads_along_rows / lanes_along_rows,
             along_columns = each.threads_along_columns / lanes_along_columns;
  rows.threads.count = lanes_along_rows;
  rows.threads.warps = {1, rows.tile / along_rows, along_rows};
  columns.threads.count = lanes_along_columns;
  columns.threads.warps = {2, columns.tile / along_columns, along_columns};
  mapping.block = {lanes_along_columns, each.threads_along_rows, along_columns};
}

/// A mapping of \p view with the tile of a block in which each thread has \p each.
GridClusterMapping tiled(const ContractionView& view, const ProductTile& each) {
  GridClusterMapping result;
  auto tile_rows = each.threads_along_rows * each.rows, tile_columns = each.threads_along_columns * each.columns;
  result.members.assign(view.cluster.members.size(), {1, -1, {}});
  result.members[view.rows] = {tile_rows, -1, {1, run_of(each.rows)}};
  result.members[view.columns] = {tile_columns, -1, {0, run_of(each.columns)}};
  result.block = {each.threads_along_columns, each.threads_along_rows, 1};
  if (each.in_warps) give_to_warps(view, each, result);
  const auto& members = view.cluster.members;
  result.separate =
      !members[view.rows].is_multiple_of(tile_rows) || !members[view.columns].is_multiple_of(tile_columns);
  result.others = {"", {}};
  result.others.tile = result.others.unroll = true;
  result.others.vector = run_of(each.columns) == 4 && view.options.vectorise &&
                         members[view.columns].is_multiple_of(4) && writes_vectors(view);
  auto type = view.scop.tensor(polyhedral::range_name(view.update().write.relation)).type;
  auto registers = each.rows * each.columns * own_registers * ceil_div(byte_size(type), 4);
  bool fits_twice =
      registers * each.threads_along_rows * each.threads_along_columns * 2 <= view.limits.multiprocessor_registers;
  result.blocks_per_multiprocessor = fits_twice ? 2 : 1;
  return result;
}

/// Terms of a sum, at most `most_counted`.
std::int64_t terms(const ContractionView& view) {
  std::int64_t result = 1;
  for (int i : view.reduced) result = count_product(result, view.extent(i));
  return result;
}

}  // namespace

std::int64_t steps_between_barriers(const ContractionView& view, const GridClusterMapping& mapping) {
  std::int64_t result = 1;
  for (int i : view.reduced)
    result = count_product(result, i == mapping.blocks.iterator ? mapping.blocks.size : view.extent(i));
  return result;
}

bool writes_vectors(const ContractionView& view) {
  for (const auto& entry : view.cluster.statements) {
    const auto& statement = view.scop.statement(entry.id);
    for (const auto* access : polyhedral::accesses(statement)) {
      auto step = polyhedral::stride(view.scop, *access, entry.outer[view.columns]);
      int read = access == &statement.write ? -1 : static_cast<int>(access - statement.reads.data());
      bool copied = &entry == &view.entry && read >= 0 && (view.is_copied(read) || view.is_subscript(read));
      if (step != 0 && step != 1 && !copied) return false;
    }
  }
  return true;
}

GridClusterMapping staged(const ContractionView& view, const GridClusterMapping& mapping) {
  auto result = mapping;
  result.staged = {polyhedral::range_name(view.update().write.relation)};
  for (const auto& tensor : view.scop.tensors)
    if (tensor.storage == polyhedral::Tensor::Storage::Workspace && !tensor.live_in && !tensor.live_out &&
        tensor.name != result.staged[0] && writes(view.scop, view.cluster, tensor.name))
      result.promoted.push_back(tensor.name);
  return result;
}

std::vector<int> grid_order(const ContractionView& view) {
  std::vector<int> result{view.columns, view.rows};
  for (int i = static_cast<int>(view.cluster.members.size()) - 1; i >= 0; --i)
    if (i != view.rows && i != view.columns) result.push_back(i);
  return result;
}

std::optional<ContractionView> tileable_contraction(const polyhedral::Scop& scop,
                                                    const polyhedral::ClusterView& cluster, const GridLimits& limits,
                                                    const polyhedral::MappingOptions& options) {
  if (cluster.members.size() < 2 || !options.promote) return std::nullopt;
  auto view = find_contraction(scop, cluster, limits, options);
  bool fits = limits.block_threads >= threads_along * threads_along;
  return view && fits && terms(*view) >= 8 ? view : std::nullopt;
}

std::optional<GridClusterMapping> tile_contraction(const ContractionView& view) {
  auto tile = product_tile(view);
  return tile ? tile_contraction(view, *tile) : std::nullopt;
}

std::optional<GridClusterMapping> tile_contraction(const ContractionView& view, const ProductTile& tile) {
  auto mapping = choose_copies(view, tiled(view, tile));
  if (leaves_gathers(view, mapping)) return std::nullopt;
  mapping = copy_subscripts(view, choose_slots(view, mapping));
  mapping = read_whole_sectors(staged(view, mapping), view.scop, view.cluster, view.limits);
  return spread_over_grid(std::move(mapping), view.cluster, grid_order(view), view.limits, view.options.grid);
}

std::optional<GridClusterMapping> tile_contraction(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster,
                                                   const GridLimits& limits,
                                                   const polyhedral::MappingOptions& options) {
  auto view = tileable_contraction(scop, cluster, limits, options);
  return view ? tile_contraction(*view) : std::nullopt;
}

}  // namespace tc::strategy
