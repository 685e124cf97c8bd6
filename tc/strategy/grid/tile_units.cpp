#include "tc/strategy/grid/tile_units.h"

#include <algorithm>

#include "tc/base/dtype.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/strategy/cost/fixed_order.h"
#include "tc/strategy/grid/contraction_copies.h"
#include "tc/strategy/grid/spread_over_grid.h"
#include "tc/strategy/grid/tile_contraction.h"

namespace tc::strategy {
namespace {

using polyhedral::GridClusterMapping;

/// Registers of a thread beside its sums. Units of groups need 26, as the assembler says where it has fewer (C7602).
constexpr std::int64_t registers_beside_sums = 32;

/// Sums of the threads of a block are in registers while units compute.
bool has_registers(const GridLimits& limits, const MatrixUnit& unit, const UnitTile& tile) {
  const auto threads = limits.warp_size * unit.warps;
  const auto sums = tile.rows * tile.columns / threads;
  const auto all = threads * tile.warp_rows * tile.warp_columns;
  return sums + registers_beside_sums <= std::min(limits.thread_registers, limits.multiprocessor_registers / all);
}

/// Rows of the tile of a warp are multiples of those of a unit, and so on.
bool is_whole(const MatrixUnit& unit, const UnitTile& tile) {
  if (unit.from_shared && (tile.rows != unit.rows || tile.block != unit_row_elements || tile.slots < 3)) return false;
  return tile.rows % unit.rows == 0 && tile.columns % unit.columns == 0 && tile.block % unit.steps == 0;
}

bool divides(const ContractionView& view, const UnitTile& tile) {
  const auto& members = view.cluster.members;
  return members[view.rows].is_multiple_of(tile.rows * tile.warp_rows) &&
         members[view.columns].is_multiple_of(tile.columns * tile.warp_columns) &&
         view.ranges.at(view.reduced.front()).is_multiple_of(tile.block) &&
         view.ranges.at(view.reduced.front()).min == 0 &&
         view.extent(view.reduced.front()) >= tile.slots * tile.block &&
         view.fills(tile.slots, view.reduced.front(), tile.block);
}

polyhedral::GridStatement by_unit(const ContractionView& view, const MatrixUnit& unit) {
  polyhedral::GridStatement result{view.update().id, {}};
  result.tile = result.unroll = true;
  result.unit = {std::string(unit.name), view.iterator(view.rows), view.iterator(view.columns), view.reduced.front()};
  return result;
}

/// Do all results of a tile need the same iterations of loops around the product, as units have no conditions?
bool has_whole_tiles(const ContractionView& view, const MatrixUnit& unit, const UnitTile& tile) {
  const auto& update = view.update();
  if (update.loops.empty()) return true;
  std::vector<std::int64_t> tiles(view.ranges.size(), 1);
  tiles[static_cast<std::size_t>(view.iterator(view.rows))] = tile.rows * tile.warp_rows * unit.warps;
  tiles[static_cast<std::size_t>(view.iterator(view.columns))] = tile.columns * tile.warp_columns;
  tiles[static_cast<std::size_t>(view.reduced.front())] = tile.block;
  return polyhedral::is_of_whole_tiles(update.domain, tiles);
}

GridClusterMapping tiled(const ContractionView& view, const MatrixUnit& unit, const UnitTile& tile) {
  GridClusterMapping result;
  const auto warps_along_rows = tile.warp_rows * unit.warps;
  const auto rows_of_warp = unit.from_shared ? unit_rows_of_warp : tile.rows;
  result.members.assign(view.cluster.members.size(), {1, -1, {}});
  result.members[view.rows] = {
      tile.rows * tile.warp_rows, -1, {1, 1, unit_threads_y, {1, rows_of_warp, warps_along_rows}}};
  result.members[view.columns] = {
      tile.columns * tile.warp_columns, -1, {0, unit_run, unit_threads_x, {2, tile.columns, tile.warp_columns}}};
  result.block = {unit_threads_x, unit_threads_y * warps_along_rows, tile.warp_columns};
  result.others = {"", {}};
  result.others.tile = result.others.unroll = true;
  result.others.vector = view.options.vectorise && writes_vectors(view);
  result.statements = {by_unit(view, unit)};
  result.blocks = {view.update().id, view.reduced.front(), tile.block, tile.slots};
  result.blocks_per_multiprocessor = 1;
  return result;
}

}  // namespace

const MatrixUnit* unit_of(const ContractionView& view) {
  const auto& update = view.update();
  if (!view.limits.matrix_units || !update.product || update.op != ReductionOp::Sum || view.reads() != 2 ||
      view.reduced.size() != 1)
    return nullptr;
  if (has_fixed_order(view.scop, update, view.options)) return nullptr;
  auto type = [&](int read) { return view.scop.tensor(polyhedral::range_name(update.reads[read].relation)).type; };
  bool copied = view.is_copied(0) && view.is_copied(1) && update.reads[0].exact && update.reads[1].exact;
  if (!copied || type(0) != type(1)) return nullptr;
  return matrix_unit_for(type(0), view.scop.tensor(polyhedral::range_name(update.write.relation)).type);
}

std::vector<const MatrixUnit*> group_units_of(const ContractionView& view) {
  std::vector<const MatrixUnit*> result;
  const auto* of_warp = unit_of(view);
  if (!of_warp || !view.limits.group_units) return result;
  for (const auto& unit : matrix_units())
    if (unit.from_shared && unit.operand == of_warp->operand && unit.sum == of_warp->sum) result.push_back(&unit);
  return result;
}

std::optional<GridClusterMapping> tile_units(const ContractionView& view, const MatrixUnit& unit,
                                             const UnitTile& tile) {
  if (!is_whole(unit, tile) || !has_registers(view.limits, unit, tile) || !divides(view, tile)) return std::nullopt;
  if (!has_whole_tiles(view, unit, tile)) return std::nullopt;
  auto copied = with_asynchronous_copies(view, tiled(view, unit, tile));
  if (!copied) return std::nullopt;
  return spread_over_grid(staged(view, *copied), view.cluster, grid_order(view), view.limits, view.options.grid);
}

}  // namespace tc::strategy
