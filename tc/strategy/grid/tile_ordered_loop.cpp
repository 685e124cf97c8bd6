#include "tc/strategy/grid/tile_ordered_loop.h"

#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/base/contains.h"
#include "tc/base/dtype.h"
#include "tc/base/matrix_unit.h"
#include "tc/polyhedral/map/copy_dimensions.h"
#include "tc/strategy/grid/promote_temporaries.h"
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
/// Blocks of an asynchronous copy in memory at once, and of one by registers.
constexpr int slots_of_asynchronous = 3, slots_of_registers = 2;
/// Neighbouring threads that read vectors of one row of an operand, where copies turn it.
constexpr std::int64_t beside_in_rows = 2;

/// Threads of a warp along x, warps and rows of a thread, steps of a block of copies.
constexpr std::int64_t threads_along_columns[] = {4, 8, 16}, warps_of_blocks[] = {2, 4, 8},
                       rows_of_threads[] = {1, 2, 4, 8}, steps_of_blocks[] = {8, 16};

struct RowTile {
  std::int64_t columns = 8;  ///< threads along x
  std::int64_t warps = 4, rows = 4, steps = 16;
  /// Threads have the rows and columns that units for matrices give them, and units compute the products that they can.
  bool by_units = false;

  std::int64_t rows_of_warp(std::int64_t warp_size) const { return warp_size / columns * rows; }
};

class Tiler {
 public:
  Tiler(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster, const polyhedral::NestSpace& space,
        const GridLimits& limits)
      : scop_(scop), cluster_(cluster), space_(space), limits_(limits) {
    find_loop();
    find_rows();
    for (std::size_t s = 0; s < space.statements.size(); ++s) products_.push_back(steps_of(static_cast<int>(s)));
  }

  bool applies() const {
    return !loop_.empty() && rows_ >= 0 &&
           std::any_of(products_.begin(), products_.end(), [](int iterator) { return iterator >= 0; });
  }

  /// Have all threads rows, and a moderate number of multiply-adds between two barriers?
  bool is_of_use(const RowTile& tile) const {
    std::int64_t most = 0;
    for (std::size_t s = 0; s < products_.size(); ++s)
      if (products_[s] >= 0) {
        const auto number = static_cast<int>(s);
        const auto columns = space_.extent({number, columns_of(number)}), steps = space_.extent({number, products_[s]});
        most = std::max(most, std::min(tile.steps, steps) * tile.rows * ceil_div(columns, tile.columns));
      }
    if (tile.by_units && !has_units(tile)) return false;
    const auto of_warp = tile.rows_of_warp(limits_.warp_size);
    return most <= most_between_barriers &&
           of_warp * tile.warps <= space_.members[static_cast<std::size_t>(rows_)].extent();
  }

  Nest nest(const RowTile& tile) const {
    Nest result;
    const auto along_y = limits_.warp_size / tile.columns;
    result.launch = polyhedral::NestLaunch{{tile.columns, along_y, tile.warps}, limits_.block_shared_bytes_requested};
    if (tile.by_units) result.launch->block = {tile.columns, along_y * tile.warps, 1};
    add_tiles(tile.rows_of_warp(limits_.warp_size) * tile.warps, result);
    for (std::size_t s = 0; s < products_.size(); ++s)
      if (products_[s] >= 0) add_copies(static_cast<int>(s), tile, result);
    for (const auto& name : temporaries_of(scop_, cluster_)) result.trunk.push_back({polyhedral::NestKeep{name, true}});
    result.trunk.push_back({polyhedral::NestAdded{.points_innermost = true, .unrolled = true}});
    for (std::size_t s = 0; s < products_.size(); ++s) result.branches.push_back(branch(static_cast<int>(s), tile));
    return result;
  }

 private:
  const polyhedral::Statement& statement(int s) const {
    return scop_.statement(space_.statements[static_cast<std::size_t>(s)].entry.id);
  }
  const polyhedral::ClusterStatement& entry(int s) const {
    return space_.statements[static_cast<std::size_t>(s)].entry;
  }

  /// The iterators of each statement that the loops which run in order are.
  void find_loop() {
    for (const auto& band : space_.bands)
      for (const auto& member : band.members) {
        if (member.coincident) continue;
        loop_.resize(space_.statements.size());
        for (std::size_t s = 0; s < loop_.size(); ++s)
          if (const int iterator = member.iterator_of(band, space_.statements[s].entry.id); iterator >= 0)
            loop_[s].push_back(iterator);
      }
  }

  /// The member with the most values, which all statements have.
  void find_rows() {
    for (std::size_t m = 0; m < space_.members.size(); ++m) {
      const bool in_all = std::all_of(space_.statements.begin(), space_.statements.end(), [&](const auto& each) {
        return m < each.entry.outer.size() && each.entry.outer[m] >= 0;
      });
      if (in_all &&
          (rows_ < 0 || space_.members[m].extent() >= space_.members[static_cast<std::size_t>(rows_)].extent()))
        rows_ = static_cast<int>(m);
    }
  }

  /// Iterators of statement number \p s that no loop around several statements runs in order, outermost first.
  std::vector<int> own(int s) const {
    std::vector<int> result;
    for (const auto& inner : entry(s).inner)
      if (!contains(loop_[static_cast<std::size_t>(s)], inner.iterator)) result.push_back(inner.iterator);
    return result;
  }
  bool is_summed(int s, int iterator) const { return space_.is_reduced({s, iterator}); }

  /// What statement number \p s sums over if it adds up terms of two operands along columns of its own; -1 if not.
  int steps_of(int s) const {
    if (loop_.empty()) return -1;
    const auto& one = statement(s);
    const bool adds = one.accumulates && one.op == ReductionOp::Sum && one.reads.size() == 2;
    if (!adds || loop_[static_cast<std::size_t>(s)].empty()) return -1;
    std::vector<int> summed;
    const auto all = own(s);
    for (int iterator : all)
      if (is_summed(s, iterator)) summed.push_back(iterator);
    return summed.size() == 1 && all.size() > 1 && one.write.exact ? summed.front() : -1;
  }

  /// The iterator of statement number \p s that threads along x share; -1 without one.
  int columns_of(int s) const {
    int result = -1;
    for (int iterator : own(s))
      if (products_.empty() || products_[static_cast<std::size_t>(s)] != iterator) result = iterator;
    return result;
  }

  void add_tiles(std::int64_t rows, Nest& nest) const {
    int dimension = 1;
    for (std::size_t m = 0; m < space_.members.size(); ++m) {
      const bool is_rows = static_cast<int>(m) == rows_;
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
    for (int read = 0; read < static_cast<int>(statement(s).reads.size()); ++read)
      if (is_copied(s, read)) nest.trunk.push_back({copy_of(s, read, tile)});
  }
  bool is_copied(int s, int read) const {
    const auto& access = statement(s).reads[static_cast<std::size_t>(read)];
    return access.exact && !contains(temporaries_of(scop_, cluster_), polyhedral::range_name(access.relation)) &&
           !polyhedral::copy_dimensions(statement(s), read).empty();
  }
  bool is_kept(int s, int read) const {
    const auto& access = statement(s).reads[static_cast<std::size_t>(read)];
    return access.exact && contains(temporaries_of(scop_, cluster_), polyhedral::range_name(access.relation));
  }
  DType type_of(const polyhedral::Access& access) const {
    return scop_.tensor(polyhedral::range_name(access.relation)).type;
  }

  polyhedral::NestSharedCopy copy_of(int s, int read, const RowTile& tile) const {
    const auto bytes = byte_size(type_of(statement(s).reads[static_cast<std::size_t>(read)]));
    const auto& iterators = space_.statements[static_cast<std::size_t>(s)].copied[static_cast<std::size_t>(read)];
    const int steps = products_[static_cast<std::size_t>(s)], columns = columns_of(s);
    polyhedral::NestSharedCopy result{.statement = s, .read = read};
    const int row = entry(s).outer[static_cast<std::size_t>(rows_)];
    result.contiguous = contains(iterators, columns) ? columns : contains(iterators, row) ? row : -1;
    const auto neighbours = neighbours_of(s, read);
    if (neighbours != steps && neighbours != result.contiguous) return result;
    if (unit_of(s, tile)) result.contiguous = neighbours;
    result.run_along = neighbours;
    result.vector = bytes_at_once / bytes;
    result.beside = neighbours == result.contiguous ? 1 : beside_in_rows;
    result.asynchronous = neighbours == result.contiguous && reads_always(s, read) && blocks_of(s, tile) > 1;
    return result;
  }

  /// The unit that computes statement number \p s in \p tile; null where none does.
  const MatrixUnit* unit_of(int s, const RowTile& tile) const {
    const int steps = products_[static_cast<std::size_t>(s)];
    const auto& one = statement(s);
    if (!tile.by_units || steps < 0 || !one.product || !has_copies(s)) return nullptr;
    if (!(is_copied(s, 0) || is_kept(s, 0)) || !(is_copied(s, 1) || is_kept(s, 1))) return nullptr;
    const auto operand = type_of(one.reads[0]);
    const auto* unit = matrix_unit_for(operand, type_of(one.write));
    if (!unit || type_of(one.reads[1]) != operand || !reads_always(s, 0) || !reads_always(s, 1)) return nullptr;
    const auto rows = tile.rows_of_warp(limits_.warp_size);
    const auto ranges = polyhedral::box(one.domain);
    const auto is_whole = [&](int iterator, std::int64_t size) {
      const auto& range = ranges[static_cast<std::size_t>(iterator)];
      return range.min == 0 && range.is_multiple_of(size);
    };
    const bool fits = rows % unit->rows == 0 && tile.steps % unit->steps == 0 && blocks_of(s, tile) > 1;
    return fits && is_whole(entry(s).outer[static_cast<std::size_t>(rows_)], rows * tile.warps) &&
                   is_whole(columns_of(s), unit->columns) && is_whole(steps, tile.steps)
               ? unit
               : nullptr;
  }
  bool has_units(const RowTile& tile) const {
    if (!limits_.matrix_units) return false;
    for (std::size_t s = 0; s < products_.size(); ++s)
      if (unit_of(static_cast<int>(s), tile)) return true;
    return false;
  }

  /// Blocks of what statement number \p s sums over.
  std::int64_t blocks_of(int s, const RowTile& tile) const {
    return ceil_div(space_.extent({s, products_[static_cast<std::size_t>(s)]}), tile.steps);
  }

  /// Does each instance of statement number \p s read? Waits count the copies of all blocks, and a block that nothing reads has none. If
  /// sizes are symbolic, not all blocks are there in each run.
  bool reads_always(int s, int read) const {
    const auto& one = statement(s);
    return scop_.sizes.is_null() && one.domain.is_subset(one.reads[static_cast<std::size_t>(read)].relation.domain());
  }

  /// The iterator along which neighbours in memory are read; -1 without one.
  int neighbours_of(int s, int read) const {
    const auto& access = statement(s).reads[static_cast<std::size_t>(read)];
    const auto& strides = scop_.tensor(polyhedral::range_name(access.relation)).strides;
    const auto dimensions = polyhedral::copy_dimensions(statement(s), read);
    for (std::size_t d = 0; d < dimensions.size() && d < strides.size(); ++d)
      if (strides[d] == 1)
        for (const auto& [iterator, factor] : dimensions[d].terms)
          if (factor == 1) return iterator;
    return -1;
  }

  /// Have all copies for statement number \p s the way of asynchronous ones?
  bool is_asynchronous(int s, const RowTile& tile) const {
    bool result = has_copies(s);
    for (int read = 0; read < static_cast<int>(statement(s).reads.size()); ++read)
      if (is_copied(s, read)) result = result && copy_of(s, read, tile).asynchronous;
    return result;
  }
  bool has_copies(int s) const { return is_copied(s, 0) || is_copied(s, 1); }

  NestBranch branch(int s, const RowTile& tile) const {
    NestBranch result{.statement = entry(s).id};
    for (int iterator : loop_[static_cast<std::size_t>(s)])
      result.loops.push_back(polyhedral::loop_over({s, iterator}, 0, 1));
    const int steps = products_[static_cast<std::size_t>(s)], columns = columns_of(s);
    if (steps >= 0) add_steps(s, steps, tile, result);
    for (int iterator : own(s))
      if (iterator != steps && iterator != columns) result.loops.push_back(polyhedral::loop_over({s, iterator}, 0, 1));
    NestBranch parts, runs;
    if (columns >= 0) add_columns({s, columns}, tile, parts, runs);
    if (is_shared(s, columns) && parts.loops.size() > 1) {
      parts.loops.front().place = NestPlace::Serial;
      result.loops.push_back(parts.loops.front());
      parts.loops.erase(parts.loops.begin());
    }
    add_rows(tile, result);
    result.loops.insert(result.loops.end(), parts.loops.begin(), parts.loops.end());
    if (tile.rows > 1 && !tile.by_units) result.loops.push_back(unrolled({-1, rows_}, tile.rows, 1));
    result.loops.insert(result.loops.end(), runs.loops.begin(), runs.loops.end());
    if (const auto* unit = unit_of(s, tile)) result.unit = unit->name;
    return result;
  }

  /// Do several statements have the loop over \p iterator of statement number \p s, above them? Not if one of them reads copies
  /// (distribute_bands.h).
  bool is_shared(int s, int iterator) const {
    for (const auto& band : space_.bands)
      for (const auto& member : band.members)
        if (iterator >= 0 && member.coincident && member.iterator_of(band, entry(s).id) == iterator) {
          const auto reads_copies = [&](const std::string& id) {
            const int number = space_.position(id);
            return products_[static_cast<std::size_t>(number)] >= 0 && has_copies(number);
          };
          return std::none_of(band.statements.begin(), band.statements.end(), reads_copies);
        }
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

  void add_steps(int s, int iterator, const RowTile& tile, NestBranch& branch) const {
    if (has_copies(s)) {
      auto blocks = polyhedral::loop_over({s, iterator}, 0, tile.steps);
      const auto slots = is_asynchronous(s, tile) ? slots_of_asynchronous : slots_of_registers;
      blocks.slots = static_cast<int>(std::min<std::int64_t>(slots, blocks_of(s, tile)));
      branch.loops.push_back(blocks);
      branch.loops.push_back(unrolled({s, iterator}, tile.steps, 1));
      return;
    }
    branch.loops.push_back(polyhedral::loop_over({s, iterator}, 0, 1));
  }

  void add_rows(const RowTile& tile, NestBranch& branch) const {
    const auto of_warp = tile.rows_of_warp(limits_.warp_size);
    const NestIndex index{-1, rows_};
    if (tile.by_units) {
      branch.loops.push_back(on_threads(index, of_warp * tile.warps, of_warp, 1));
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
  const polyhedral::ClusterView& cluster_;
  const polyhedral::NestSpace& space_;
  const GridLimits& limits_;
  std::vector<std::vector<int>> loop_;  ///< of each statement
  int rows_ = -1;                       ///< a member
  std::vector<int> products_;           ///< of each statement, what it sums over as a product; -1: it is none
};

}  // namespace

std::vector<Nest> ordered_loop_tiles(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster,
                                     const polyhedral::NestSpace& space, const GridLimits& limits) {
  const Tiler tiler(scop, cluster, space, limits);
  std::vector<Nest> result;
  if (!tiler.applies()) return result;
  for (auto warps : warps_of_blocks)
    for (std::int64_t rows : {2, 4})
      for (std::int64_t steps : {16, 32})
        if (const RowTile tile{unit_threads_x, warps, rows, steps, true}; tiler.is_of_use(tile))
          result.push_back(tiler.nest(tile));
  for (auto columns : threads_along_columns)
    for (auto warps : warps_of_blocks)
      for (auto rows : rows_of_threads)
        for (auto steps : steps_of_blocks)
          if (const RowTile tile{columns, warps, rows, steps}; tiler.is_of_use(tile))
            result.push_back(tiler.nest(tile));
  return result;
}

}  // namespace tc::strategy
