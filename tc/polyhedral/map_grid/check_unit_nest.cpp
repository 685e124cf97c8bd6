#include "tc/polyhedral/map_grid/check_unit_nest.h"

#include <algorithm>
#include <set>
#include <string>

#include "tc/base/error.h"
#include "tc/base/matrix_unit.h"
#include "tc/base/str.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/map_grid/fill_rows.h"
#include "tc/polyhedral/nest/idle_loops.h"
#include "tc/polyhedral/nest/kernel_nest.h"

namespace tc::polyhedral {
namespace {

/// Rows or columns of a unit: the tiles of a block and of a warp.
struct UnitMember {
  std::int64_t extent = 0, tile = 0, warp = 0, warps = 1;
};

class UnitCheck {
 public:
  UnitCheck(const Scop& scop, const NestSpace& space, const Nest& nest, std::size_t number, const GridLimits& limits,
            const NestRefusal& refuse)
      : scop_(scop),
        space_(space),
        nest_(nest),
        branch_(nest.branches[number]),
        number_(static_cast<int>(number)),
        limits_(limits),
        refuse_(refuse) {}

  void run() const {
    const auto& update = scop_.statement(branch_.statement);
    std::set<std::string> known;
    for (const auto& unit : matrix_units()) known.emplace(unit.name);
    if (!known.count(branch_.unit)) fail(str("there is no unit '", branch_.unit, "' but ", join(known)));
    if (!update.product || update.op != ReductionOp::Sum || update.reads.size() != 2)
      fail(str("'", branch_.statement, "' is no sum of products of two elements, which a unit computes"));
    const auto type = scop_.tensor(range_name(update.reads[0].relation)).type;
    const auto* unit = matrix_unit(branch_.unit, type);
    if (!unit) fail(str("it does not multiply elements of ", type));
    if (!limits_.matrix_units || (unit->from_shared && !limits_.group_units))
      fail(str("the target has no unit '", branch_.unit, "' for what '", branch_.statement, "' multiplies"));
    check_threads();
    check_sizes(*unit);
    for (int read = 0; read < 2; ++read)
      if (!is_copied(read) && !is_kept(read))
        fail("it reads both operands from shared memory, copies or temporaries that are kept");
    if (unit->from_shared && !(is_copied(0) && is_copied(1))) fail("it reads copies of both operands in shared memory");
    if (unit->from_shared) check_group(*unit);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    refuse_({NestPart::Where::Branch, static_cast<std::size_t>(number_)}, "unit", why);
    throw InternalError("a law was broken without an error");
  }

  const NestLoop* thread_loop(int dimension, std::int64_t step, std::int64_t values) const {
    for (const auto& loop : branch_.loops)
      if (loop.place == NestPlace::Thread && loop.dimension == dimension && loop.digit.step == step &&
          values_of(loop.digit, space_.extent(loop.digit.index)) == values)
        return &loop;
    return nullptr;
  }
  const NestLoop* rows() const { return thread_loop(1, 1, unit_threads_y); }
  const NestLoop* columns() const { return thread_loop(0, unit_run, unit_threads_x); }

  void check_threads() const {
    if (!rows()) fail("8 threads along y have neighbouring rows, as 'm%8 on thread.y'");
    if (!columns()) fail("4 threads along x have two neighbouring columns each, as 'n%8/2 on thread.x'");
    if (!are_along(rows()->digit.index, 1) || !are_along(columns()->digit.index, 2))
      fail("its warps are along y for rows and along z for columns");
    if (!steps()) fail("what it sums over is a loop of its own, as 'k/32 with copies'");
  }

  /// Are the warps of \p index, if it has several, along \p dimension?
  bool are_along(const NestIndex& index, int dimension) const {
    const auto threads = thread_loops(branch_, index);
    return threads.size() < 2 || threads.front().dimension == dimension;
  }

  /// The outermost loop over what it sums over: over blocks that copies are made for, if there are such.
  const NestLoop* steps() const {
    for (const auto& loop : branch_.loops)
      if (space_.is_reduced(loop.digit.index)) return &loop;
    return nullptr;
  }
  /// The steps that a loop below that of copies runs.
  std::int64_t steps_at_once() const {
    return steps()->slots > 0 ? steps()->digit.step : space_.extent(steps()->digit.index);
  }

  UnitMember member(const NestIndex& index) const {
    const bool is_own = index.statement >= 0;
    UnitMember result{space_.extent(index), is_own ? space_.extent(index) : tile_of(space_, nest_, index.number)};
    const auto threads = thread_loops(branch_, index);
    result.warp = threads.size() > 1 ? threads.front().digit.step : result.tile;
    if (threads.size() > 1) {
      const auto& digit = threads.front().digit;
      const auto all = digit.mod > 0 ? std::min(digit.mod, result.extent) : result.extent;
      result.warps = all / digit.step;
    }
    return result;
  }

  void check_sizes(const MatrixUnit& unit) const {
    const auto& domain = scop_.statement(branch_.statement).domain;
    const auto iterators = unit_iterators(space_, branch_, number_);
    const auto starts_at_0 = [&](int iterator) {
      return iterator >= 0 && box(domain)[static_cast<std::size_t>(iterator)].min == 0;
    };
    const auto more = rows_to_fill(scop_, space_, nest_);
    const auto is_filled = [&](int iterator) { return more && iterator == iterators.rows; };
    const auto is_whole = [&](int iterator, const UnitMember& one, std::int64_t size, std::int64_t of_warp) {
      return starts_at_0(iterator) &&
             (is_filled(iterator) || box(domain)[static_cast<std::size_t>(iterator)].is_multiple_of(one.tile)) &&
             one.tile % (one.warp * one.warps) == 0 && one.warp * one.warps % size == 0 && one.warp % of_warp == 0;
    };
    const auto of_warp = unit.from_shared ? unit_rows_of_warp : unit.rows;
    const auto steps = steps_at_once();
    const bool whole_steps = starts_at_0(iterators.steps) &&
                             box(domain)[static_cast<std::size_t>(iterators.steps)].is_multiple_of(steps) &&
                             steps % unit.steps == 0;
    if (!is_whole(iterators.rows, member(rows()->digit.index), unit.rows, of_warp) ||
        !is_whole(iterators.columns, member(columns()->digit.index), unit.columns, unit.columns) || !whole_steps)
      fail(str("sizes are multiples of the tiles of blocks, warps and the unit, ", unit.rows, " rows, ", unit.columns,
               " columns and ", unit.steps, " steps"));
    std::vector<std::int64_t> tiles(box(domain).size(), 1);
    tiles[static_cast<std::size_t>(iterators.rows)] = member(rows()->digit.index).tile;
    tiles[static_cast<std::size_t>(iterators.columns)] = member(columns()->digit.index).tile;
    tiles[static_cast<std::size_t>(iterators.steps)] = steps;
    if (!scop_.statement(branch_.statement).loops.empty() &&
        !is_of_whole_tiles(more ? filled(domain, iterators.rows, *more) : isl::set(domain), tiles))
      fail("rows of a tile need other iterations of the loop around it; a tile of fewer rows has the same for all");
  }

  bool is_copied(int read) const {
    return std::any_of(nest_.trunk.begin(), nest_.trunk.end(), [&](const auto& step) {
      const auto* copy = std::get_if<NestSharedCopy>(&step.what);
      return copy && copy->statement == number_ && copy->read == read;
    });
  }

  /// Is the operand a temporary that threads of other columns, or rows, have written? It is in shared memory then.
  bool is_kept(int read) const {
    const auto& name = range_name(scop_.statement(branch_.statement).reads[static_cast<std::size_t>(read)].relation);
    return std::any_of(nest_.trunk.begin(), nest_.trunk.end(), [&](const auto& step) {
      const auto* keep = std::get_if<NestKeep>(&step.what);
      return keep && keep->is_temporary && keep->tensor == name && !scop_.tensor(name).live_in;
    });
  }

  /// What a unit of a group of warps asks for beside.
  void check_group(const MatrixUnit& unit) const {
    const auto row = member(rows()->digit.index), column = member(columns()->digit.index);
    if (row.warp != unit_rows_of_warp || row.warps % unit.warps != 0 || row.tile != row.warp * row.warps)
      fail(str("each warp has ", unit_rows_of_warp, " rows of a tile of '", unit.name,
               "', and their number is a multiple of ", unit.warps));
    if (steps_at_once() != unit_row_elements || steps()->slots < 3)
      fail(str("'", unit.name, "' reads blocks of ", unit_row_elements, " steps in at least 3 slots"));
    const auto& sum = range_name(scop_.statement(branch_.statement).write.relation);
    bool keeps = false;
    for (const auto& step : nest_.trunk) {
      if (const auto* copy = std::get_if<NestSharedCopy>(&step.what);
          copy && copy->statement == number_ && !copy->asynchronous)
        fail(str("copies for '", unit.name, "' are asynchronous"));
      const auto* keep = std::get_if<NestKeep>(&step.what);
      keeps = keeps || (keep && !keep->is_temporary && keep->tensor == sum);
    }
    if (!keeps || column.warp / 2 > nest_.launch->thread_elements)
      fail(str("the sums of '", unit.name, "', ", column.warp / 2, " of each thread, are kept in registers"));
  }

  const Scop& scop_;
  const NestSpace& space_;
  const Nest& nest_;
  const NestBranch& branch_;
  int number_;
  const GridLimits& limits_;
  const NestRefusal& refuse_;
};

}  // namespace

void check_unit_nest(const Scop& scop, const NestSpace& space, const Nest& nest, std::size_t number,
                     const GridLimits& limits, const NestRefusal& refuse) {
  if (!nest.branches[number].unit.empty()) UnitCheck(scop, space, nest, number, limits, refuse).run();
}

}  // namespace tc::polyhedral
