#include "tc/strategy/grid/tile_ordered_loop.h"

#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/base/contains.h"
#include "tc/base/dtype.h"
#include "tc/base/matrix_unit.h"
#include "tc/strategy/grid/ordered_loop_view.h"
#include "tc/strategy/grid/tile_contraction.h"

namespace tc::strategy {
namespace {

using polyhedral::Nest;
using polyhedral::NestBranch;
using polyhedral::NestIndex;
using polyhedral::NestLoop;
using polyhedral::NestPlace;

/// Bytes that a thread moves at once.
constexpr std::int64_t bytes_at_once = 16;
/// Blocks of an asynchronous copy in memory at once, of one by registers, and of one for iterations of the ordered loop.
constexpr int slots_of_asynchronous = 3, slots_of_registers = 2, slots_of_loop = 2;
/// Neighbouring threads that read vectors of one row of an operand, where copies turn it.
constexpr std::int64_t beside_in_rows = 2;

/// Threads of a warp along x, warps and rows of a thread, steps of a block of copies.
constexpr std::int64_t threads_along_columns[] = {4, 8, 16}, warps_of_blocks[] = {2, 4, 8},
                       rows_of_threads[] = {1, 2, 4, 8}, steps_of_blocks[] = {8, 16};
/// The same where units compute: warps, rows of a thread, a pair for each unit of a warp, and steps.
constexpr std::int64_t warps_by_units[] = {1, 2, 4, 8}, rows_by_units[] = {2, 4}, steps_by_units[] = {16, 32};

struct RowTile {
  std::int64_t columns = 8;  ///< threads along x
  std::int64_t warps = 4, rows = 4, steps = 16;
  /// Threads have the rows and columns that units for matrices give them, and units compute the products that they can.
  bool by_units = false;
  /// Operands of units are copied for whole iterations of the ordered loop, one ahead, where they can.
  bool in_loop = false;

  std::int64_t rows_of_warp(std::int64_t warp_size) const { return warp_size / columns * rows; }
};

class Tiler {
 public:
  Tiler(const polyhedral::Scop& scop, const polyhedral::NestSpace& space, const OrderedLoopView& view,
        const GridLimits& limits)
      : scop_(scop), space_(space), view_(view), limits_(limits) {}

  /// Have all threads rows, and a moderate number of multiply-adds between two barriers?
  bool is_of_use(const RowTile& tile) const {
    std::int64_t most = 0;
    for (int s = 0; s < count(); ++s)
      if (const auto& product = view(s).product) {
        const auto columns = space_.extent({s, view(s).columns}), steps = space_.extent({s, product->steps});
        most = std::max(most, std::min(tile.steps, steps) * tile.rows * ceil_div(columns, tile.columns));
      }
    if (tile.by_units && !has_units(tile)) return false;
    if (tile.in_loop && !has_copies_in_loop(tile)) return false;
    // One unit has rows to spare where there are few (fill_rows.h).
    const auto rows = tile.rows_of_warp(limits_.warp_size) * tile.warps;
    const bool is_least = tile.by_units && tile.warps == 1 && tile.rows == rows_by_units[0];
    return most <= most_between_barriers &&
           (is_least || rows <= space_.members[static_cast<std::size_t>(view_.rows)].extent());
  }

  Nest nest(const RowTile& tile) const {
    Nest result;
    const auto along_y = limits_.warp_size / tile.columns;
    result.launch = polyhedral::NestLaunch{{tile.columns, along_y, tile.warps}, limits_.block_shared_bytes_requested};
    if (tile.by_units) result.launch->block = {tile.columns, along_y * tile.warps, 1};
    add_tiles(tile.rows_of_warp(limits_.warp_size) * tile.warps, result);
    for (int s = 0; s < count(); ++s) add_copies(s, tile, result);
    for (const auto& name : view_.temporaries) result.trunk.push_back({polyhedral::NestKeep{name, true}});
    result.trunk.push_back({polyhedral::NestAdded{.points_innermost = true, .unrolled = true}});
    for (int s = 0; s < count(); ++s) result.branches.push_back(branch(s, tile));
    return result;
  }

 private:
  int count() const { return static_cast<int>(view_.statements.size()); }
  const LoopStatement& view(int s) const { return view_.statements[static_cast<std::size_t>(s)]; }
  const polyhedral::ClusterStatement& entry(int s) const {
    return space_.statements[static_cast<std::size_t>(s)].entry;
  }
  int row_of(int s) const { return entry(s).outer[static_cast<std::size_t>(view_.rows)]; }

  void add_tiles(std::int64_t rows, Nest& nest) const {
    int dimension = 1;
    for (std::size_t m = 0; m < space_.members.size(); ++m) {
      const bool is_rows = static_cast<int>(m) == view_.rows;
      auto loop = polyhedral::loop_over({-1, static_cast<int>(m)}, 0, is_rows ? rows : 1);
      if (is_rows || dimension < 3) {
        loop.place = NestPlace::Grid;
        loop.dimension = is_rows ? 0 : dimension++;
        loop.blocks = std::min(limits_.grid[static_cast<std::size_t>(loop.dimension)],
                               ceil_div(space_.members[m].extent(), loop.digit.step));
      }
      nest.trunk.push_back({loop});
    }
  }

  /// Copies of the operands of statement number \p s that memory has: what is kept is in shared memory already.
  void add_copies(int s, const RowTile& tile, Nest& nest) const {
    for (int read = 0; view(s).product && read < 2; ++read)
      if (operand(s, read).is_copied) nest.trunk.push_back({copy_of(s, read, tile)});
  }
  const LoopOperand& operand(int s, int read) const {
    return view(s).product->operands[static_cast<std::size_t>(read)];
  }

  polyhedral::NestSharedCopy copy_of(int s, int read, const RowTile& tile) const {
    const auto& own = operand(s, read);
    const auto& iterators = space_.statements[static_cast<std::size_t>(s)].copied[static_cast<std::size_t>(read)];
    const int columns = view(s).columns, row = row_of(s);
    polyhedral::NestSharedCopy result{.statement = s, .read = read};
    result.contiguous = contains(iterators, columns) ? columns : contains(iterators, row) ? row : -1;
    if (own.neighbours != view(s).product->steps && own.neighbours != result.contiguous) return result;
    if (unit_of(s, tile)) result.contiguous = own.neighbours;
    result.run_along = own.neighbours;
    result.vector = bytes_at_once / byte_size(own.type);
    result.beside = own.neighbours == result.contiguous ? 1 : beside_in_rows;
    // Waits count the copies of all blocks, and a block that nothing reads has none.
    result.asynchronous = own.neighbours == result.contiguous && own.reads_always &&
                          (is_copied_in_loop(s, tile) ? moves_in_loop(s, read) : blocks_of(s, tile) > 1);
    return result;
  }

  /// Does the ordered loop around statement number \p s move what it reads by \p read?
  bool moves_in_loop(int s, int read) const {
    const auto& ordered = view(s).ordered;
    return ordered.size() == 1 && space_.extent({s, ordered.front()}) >= slots_of_loop &&
           contains(space_.statements[static_cast<std::size_t>(s)].copied[static_cast<std::size_t>(read)],
                    ordered.front());
  }
  /// Are the operands of statement number \p s copied for iterations of the ordered loop: those that it moves without turning them?
  bool is_copied_in_loop(int s, const RowTile& tile) const {
    if (!tile.in_loop || !view(s).product || view(s).ordered.size() != 1) return false;
    bool any = false;
    for (int read = 0; read < 2; ++read) {
      const auto& own = operand(s, read);
      if (!own.is_copied || !moves_in_loop(s, read)) continue;
      any = true;
      if (own.neighbours < 0 || !own.reads_always) return false;
    }
    return any;
  }
  bool has_copies_in_loop(const RowTile& tile) const {
    for (int s = 0; s < count(); ++s)
      if (is_copied_in_loop(s, tile)) return true;
    return false;
  }

  /// The unit that computes statement number \p s in \p tile; null where none does.
  const MatrixUnit* unit_of(int s, const RowTile& tile) const {
    const auto& product = view(s).product;
    const auto& statement = scop_.statement(entry(s).id);
    if (!tile.by_units || !product || !statement.product || !product->has_copies()) return nullptr;
    const auto& operands = product->operands;
    const auto sum = scop_.tensor(polyhedral::range_name(statement.write.relation)).type;
    const auto* unit = operands[0].type == operands[1].type ? matrix_unit_for(operands[0].type, sum) : nullptr;
    const bool in_shared_memory = std::all_of(operands.begin(), operands.end(), [](const LoopOperand& each) {
      return each.reads_always && (each.is_copied || each.is_kept);
    });
    if (!unit || !in_shared_memory) return nullptr;
    const auto rows = tile.rows_of_warp(limits_.warp_size);
    const auto is_whole = [&](int iterator, std::int64_t size) {
      const auto& range = product->ranges[static_cast<std::size_t>(iterator)];
      return range.min == 0 && range.is_multiple_of(size);
    };
    // The last tile of rows is filled up (fill_rows.h), if that is possible.
    const bool has_rows =
        !product->ranges[static_cast<std::size_t>(row_of(s))].symbolic || is_whole(row_of(s), rows * tile.warps);
    const bool in_loop = is_copied_in_loop(s, tile);
    const bool fits = rows % unit->rows == 0 && tile.steps % unit->steps == 0 && (in_loop || blocks_of(s, tile) > 1) &&
                      has_rows && is_whole(view(s).columns, unit->columns) &&
                      is_whole(product->steps, in_loop ? unit->steps : tile.steps);
    return fits ? unit : nullptr;
  }
  bool has_units(const RowTile& tile) const {
    if (!limits_.matrix_units) return false;
    for (int s = 0; s < count(); ++s)
      if (unit_of(s, tile)) return true;
    return false;
  }

  /// Blocks of what statement number \p s, a product, sums over.
  std::int64_t blocks_of(int s, const RowTile& tile) const {
    return ceil_div(space_.extent({s, view(s).product->steps}), tile.steps);
  }

  /// Are all copies for statement number \p s, a product with copies, asynchronous?
  bool is_asynchronous(int s, const RowTile& tile) const {
    for (int read = 0; read < 2; ++read)
      if (operand(s, read).is_copied && !copy_of(s, read, tile).asynchronous) return false;
    return true;
  }

  NestBranch branch(int s, const RowTile& tile) const {
    NestBranch result{.statement = entry(s).id};
    for (int iterator : view(s).ordered) result.loops.push_back(polyhedral::loop_over({s, iterator}, 0, 1));
    if (is_copied_in_loop(s, tile)) result.loops.back().slots = slots_of_loop;
    const auto& product = view(s).product;
    const int columns = view(s).columns;
    if (product) add_steps(s, tile, result);
    for (int iterator : view(s).own)
      if ((!product || iterator != product->steps) && iterator != columns)
        result.loops.push_back(polyhedral::loop_over({s, iterator}, 0, 1));
    NestBranch parts, runs;
    if (columns >= 0) add_columns({s, columns}, tile, parts, runs);
    if (parts.loops.size() > 1 && is_shared(s, columns)) {
      parts.loops.front().place = NestPlace::Serial;
      result.loops.push_back(parts.loops.front());
      parts.loops.erase(parts.loops.begin());
    }
    add_rows(tile, result);
    result.loops.insert(result.loops.end(), parts.loops.begin(), parts.loops.end());
    if (tile.rows > 1 && !tile.by_units) result.loops.push_back(unrolled({-1, view_.rows}, tile.rows, 1));
    result.loops.insert(result.loops.end(), runs.loops.begin(), runs.loops.end());
    if (const auto* unit = unit_of(s, tile)) result.unit = unit->name;
    return result;
  }

  /// Do several statements have the loop over \p iterator of statement number \p s, above them? Not if one of them reads copies
  /// (distribute_bands.h).
  bool is_shared(int s, int iterator) const {
    const auto reads_copies = [&](const std::string& id) {
      const auto& product = view(space_.position(id)).product;
      return product && product->has_copies();
    };
    for (const auto& band : space_.bands)
      for (const auto& member : band.members)
        if (member.coincident && member.iterator_of(band, entry(s).id) == iterator)
          return std::none_of(band.statements.begin(), band.statements.end(), reads_copies);
    return false;
  }

  static NestLoop unrolled(const NestIndex& index, std::int64_t mod, std::int64_t step) {
    auto loop = polyhedral::loop_over(index, mod, step);
    loop.place = NestPlace::Unrolled;
    return loop;
  }
  static NestLoop on_threads(const NestIndex& index, std::int64_t mod, std::int64_t step, int dimension) {
    auto loop = polyhedral::loop_over(index, mod, step);
    loop.place = NestPlace::Thread;
    loop.dimension = dimension;
    return loop;
  }

  void add_steps(int s, const RowTile& tile, NestBranch& branch) const {
    const NestIndex index{s, view(s).product->steps};
    if (!view(s).product->has_copies()) return branch.loops.push_back(polyhedral::loop_over(index, 0, 1));
    if (is_copied_in_loop(s, tile)) return branch.loops.push_back(unrolled(index, 0, 1));
    auto blocks = polyhedral::loop_over(index, 0, tile.steps);
    const auto slots = is_asynchronous(s, tile) ? slots_of_asynchronous : slots_of_registers;
    blocks.slots = static_cast<int>(std::min<std::int64_t>(slots, blocks_of(s, tile)));
    branch.loops.push_back(blocks);
    branch.loops.push_back(unrolled(index, tile.steps, 1));
  }

  void add_rows(const RowTile& tile, NestBranch& branch) const {
    const auto of_warp = tile.rows_of_warp(limits_.warp_size);
    const NestIndex index{-1, view_.rows};
    if (tile.by_units) {
      if (tile.warps > 1) branch.loops.push_back(on_threads(index, of_warp * tile.warps, of_warp, 1));
      branch.loops.push_back(unrolled(index, of_warp, unit_threads_y));
      branch.loops.push_back(on_threads(index, unit_threads_y, 1, 1));
      return;
    }
    branch.loops.push_back(on_threads(index, of_warp * tile.warps, of_warp, 2));
    branch.loops.push_back(on_threads(index, of_warp, tile.rows, 1));
  }

  /// Columns go round by vectors where there are enough, and otherwise in equal parts.
  void add_columns(const NestIndex& index, const RowTile& tile, NestBranch& branch, NestBranch& runs) const {
    const auto extent = space_.extent(index);
    const auto vector = bytes_at_once / 4, threads = tile.columns;
    const auto run = tile.by_units ? unit_run : std::min(vector, ceil_div(extent, threads));
    const auto round = run * threads;
    const bool goes_round = round < extent;
    if (goes_round) branch.loops.push_back(unrolled(index, 0, round));
    branch.loops.push_back(on_threads(index, goes_round ? round : 0, run, 0));
    if (run > 1) runs.loops.push_back(unrolled(index, run, 1));
  }

  const polyhedral::Scop& scop_;
  const polyhedral::NestSpace& space_;
  const OrderedLoopView& view_;
  const GridLimits& limits_;
};

}  // namespace

std::vector<Nest> ordered_loop_tiles(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster,
                                     const polyhedral::NestSpace& space, const GridLimits& limits) {
  const auto view = find_ordered_loop(scop, cluster, space);
  std::vector<Nest> result;
  if (!view) return result;
  const Tiler tiler(scop, space, *view, limits);
  const auto add = [&](const RowTile& tile) {
    if (tiler.is_of_use(tile)) result.push_back(tiler.nest(tile));
  };
  for (auto warps : warps_by_units)
    for (auto rows : rows_by_units)
      for (auto steps : steps_by_units) add({unit_threads_x, warps, rows, steps, true});
  for (auto warps : warps_by_units)
    for (auto rows : rows_by_units) add({unit_threads_x, warps, rows, steps_by_units[0], true, true});
  for (auto columns : threads_along_columns)
    for (auto warps : warps_of_blocks)
      for (auto rows : rows_of_threads)
        for (auto steps : steps_of_blocks) add({columns, warps, rows, steps});
  return result;
}

}  // namespace tc::strategy
