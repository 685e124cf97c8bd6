#include "tc/polyhedral/spread/spread_statement.h"

#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/base/error.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/loops.h"
#include "tc/polyhedral/core/marks.h"
#include "tc/polyhedral/nest/branch_points.h"
#include "tc/polyhedral/spread/branch_loops.h"
#include "tc/polyhedral/spread/thread_digits.h"
#include "tc/polyhedral/spread/thread_map.h"

namespace tc::polyhedral {
namespace {

using isl::schedule_node;

/// Sets the filter of \p spread to what its coordinates say.
void filter_by_threads(const std::array<std::int64_t, 3>& block, StatementThreads& spread) {
  for (int dimension = 0; dimension < 3; ++dimension) {
    if (block[dimension] <= 1) continue;
    auto& coordinate = spread.threads[dimension];
    if (coordinate.is_null()) coordinate = zero_on(spread.filter);
    spread.filter = spread.filter.intersect(equal_to(coordinate, thread_name(dimension)));
  }
}

bool all_coincident(const GridLoops& loops) {
  return std::all_of(loops.begin(), loops.end(), [](const GridLoop& loop) { return loop.coincident; });
}

/// The number of the first loop below which all are unrolled or lanes; behind the last one where none is unrolled.
std::size_t first_unrolled(const std::vector<BranchLoop>& loops) {
  std::size_t result = 0;
  bool any = false;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    if (loops[i].is_named && loops[i].place == NestPlace::Serial) result = i + 1;
    any = any || loops[i].place == NestPlace::Unrolled;
  }
  return any ? result : loops.size();
}

/// \p loops as bands, with the marks that they ask for.
void add_bands(const std::vector<BranchLoop>& loops, StatementThreads& spread) {
  const auto unrolled = first_unrolled(loops);
  for (std::size_t i = 0; i < loops.size(); ++i) {
    const bool starts = i == 0 || i == unrolled || loops[i].group != loops[i - 1].group;
    if (starts) spread.own.emplace_back();
    auto& band = spread.own.back();
    band.loops.push_back(loops[i].loop);
    const bool is_single = band.loops.size() == 1 && loops[i].group < BranchLoop::Points;
    band.permutable = is_single || all_coincident(band.loops);
    if (loops[i].place == NestPlace::Lanes) {
      spread.lanes = loops[i].lanes;
      band.marks.push_back(marks::vector);
    }
    if (i == unrolled) band.marks.push_back(marks::register_tile);
  }
}

/// The loops of \p branch, which are on all threads, counted as one. Their rounds are unrolled.
void spread_numbered(const schedule_node& node, const NestBranch& branch, const std::vector<BranchIndex>& indices,
                     const std::array<std::int64_t, 3>& block, StatementThreads& spread) {
  struct Numbered {
    isl::union_pw_aff group, index;
    std::int64_t count, run, beside;
  };
  std::vector<Numbered> loops;
  for (const auto& loop : branch.loops)
    for (const auto& index : indices) {
      if (loop.place != NestPlace::Threads || index.iterator != loop.digit.index.number) continue;
      const auto run = loop.digit.step;
      const auto rest = index.band < 0 ? index.index.rest() : index.member;
      const auto range = values(rest, instances_at(node));
      const auto value = from_origin(rest, range.min, instances_at(node));
      loops.push_back({in_groups(value, run), value, ceil_div(range.extent(), run), run, loop.beside});
    }
  ThreadDigits digits(block);
  ThreadBand groups, runs;
  for (const auto& loop : loops)
    if (loop.beside > 1) digits.add(remainder(loop.group, loop.beside), loop.beside);
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
    digits.add(in_groups(loop->group, loop->beside), ceil_div(loop->count, loop->beside));
    groups.loops.insert(groups.loops.begin(), {loop->group, true});
    if (loop->run > 1) runs.loops.push_back({remainder(loop->index, loop->run), true});
  }
  spread.threads = digits.threads;
  filter_by_threads(block, spread);
  auto& numbers = spread.numbers.emplace();
  ThreadBand rounds;
  for (const auto& round : digits.rounds) {
    rounds.loops.push_back({round.index, true});
    numbers.push_back({round.index, round.count});
  }
  for (const auto& loop : loops)
    if (loop.run > 1) numbers.push_back({remainder(loop.index, loop.run), loop.run});
  spread.own = {rounds, groups};
  for (const auto& loop : branch.loops)
    if (loop.place == NestPlace::Lanes) {
      spread.lanes = loop.lanes;
      runs.marks.push_back(marks::vector);
    }
  if (!runs.loops.empty()) spread.own.push_back(runs);
  spread.own.front().marks.push_back(marks::register_tile);
}

/// The bands of a statement that \p unit computes: steps between instructions, then instructions, then what a thread has of one.
///
///   m of 64, k of 32, an instruction of 16 and 16       bands [k/16], [m/16], [m%16/8, m%8, k%16]
///
/// The steps of one that reads shared memory are counted with the instructions: [], [m/16, k/16], [m%16/8, m%8, k%16].
std::vector<ThreadBand> unit_bands(const NestSpace& space, const NestBranch& branch,
                                   const std::vector<BranchIndex>& indices, const MatrixUnit& unit,
                                   const UnitIterators& iterators) {
  GridLoops steps, instructions, parts;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto& [index, member, iterator, band] = indices[i];
    const std::int64_t size = iterator == iterators.rows      ? unit.rows
                              : iterator == iterators.columns ? unit.columns
                              : iterator == iterators.steps   ? unit.steps
                                                              : 1;
    const bool coincident = index.is_coincident();
    if (band >= 0 && iterator != iterators.rows && iterator != iterators.columns) {
      (unit.from_shared ? instructions : steps).push_back({in_groups(member, size), coincident});
      if (size > 1) parts.push_back({remainder(member, size), coincident});
      continue;
    }
    if (index.extent() == 1) continue;
    std::vector<NestLoop> threads;
    for (const auto& loop : loops_over(space, branch, indices[i], i))
      if (loop.place == NestPlace::Thread) threads.push_back(loop);
    const bool has_warps = threads.size() > 1;
    const auto tile = has_warps ? threads.front().digit.step : index.extent();
    const auto& of_warp = has_warps ? index.below(tile) : index;
    if (has_warps) instructions.push_back({index.digit(tile), coincident});
    instructions.push_back({in_groups(of_warp.rest(), size), coincident});
    if (size == 1) continue;
    const auto& digit = threads.back().digit;
    const auto round = digit.mod > 0 ? std::min(digit.mod, index.extent()) : index.extent();
    const auto own = std::min(size, tile);
    if (own > round) parts.push_back({quotient(remainder(index.rest(), own), round), coincident});
    parts.push_back({remainder(in_groups(index.rest(), digit.step), round / digit.step), coincident});
    if (digit.step > 1) parts.push_back({remainder(index.rest(), digit.step), coincident});
  }
  std::vector<ThreadBand> result{{steps}, {instructions}, {parts}};
  for (auto& band : result) band.permutable = all_coincident(band.loops);
  result[1].marks.push_back(marks::unit);
  if (is_unrolled(branch)) result[0].marks.push_back(marks::register_tile);
  return result;
}

/// The unit that computes the statement of \p branch, null where none does.
const MatrixUnit* unit_of(const Scop& scop, const NestBranch& branch) {
  if (branch.unit.empty()) return nullptr;
  const auto& operand = scop.statement(branch.statement).reads.front();
  return matrix_unit(branch.unit, scop.tensor(range_name(operand.relation)).type);
}

/// The own bands of a statement as they are, without the loops that threads run.
std::vector<GridLoops> serial_bands(const NestSpace& space, const NestBranch& branch,
                                    const std::vector<BranchIndex>& indices) {
  std::vector<GridLoops> result;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i].band < 0) continue;
    if (static_cast<std::size_t>(indices[i].band) == result.size()) result.emplace_back();
    const auto loops = loops_over(space, branch, indices[i], i);
    const bool on_threads =
        std::any_of(loops.begin(), loops.end(), [](const NestLoop& loop) { return loop.place == NestPlace::Thread; });
    if (!on_threads) result.back().push_back({indices[i].member, indices[i].index.is_coincident()});
  }
  return result;
}

std::vector<int> own_iterators(const std::vector<BranchIndex>& indices) {
  std::vector<int> result;
  for (const auto& index : indices)
    if (index.band >= 0 && index.iterator >= 0) result.push_back(index.iterator);
  return result;
}

}  // namespace

StatementThreads spread_statement(const schedule_node& node, const Scop& scop, const GridClusterState& state,
                                  const std::vector<OpenIndex>& points, bool together) {
  const auto id = statement_ids(node).at(0);
  const auto indices = branch_indices(node, scop, state, points);
  const auto branch = state.branch(id, own_iterators(indices));
  StatementThreads result{id, everywhere(instances_at(node)), {}};
  if (has_place(branch, NestPlace::Threads)) {
    spread_numbered(node, branch, indices, state.block(), result);
    return result;
  }
  const auto loops = branch_loops(state.space, branch, indices, state.block(), together);
  result.threads = loops.threads;
  filter_by_threads(state.block(), result);
  if (const auto* unit = unit_of(scop, branch)) {
    result.unit = unit;
    result.unit_iterators = unit_iterators(state.space, branch, state.position(id));
    const auto& [rows, columns, steps] = result.unit_iterators;
    if (std::min({rows, columns, steps}) < 0)
      throw InternalError("a unit has rows and columns on threads, and blocks of steps");
    result.own = unit_bands(state.space, branch, indices, *unit, result.unit_iterators);
    return result;
  }
  if (together) result.above = serial_bands(state.space, branch, indices);
  add_bands(loops.loops, result);
  return result;
}

schedule_node insert_threads(schedule_node node, const StatementThreads& spread) {
  while (node.isa<isl::schedule_node_band>()) node = erase(node);
  for (auto band = spread.own.rbegin(); band != spread.own.rend(); ++band) {
    if (!band->loops.empty())
      node = insert_loops(node, band->loops).as<isl::schedule_node_band>().set_permutable(band->permutable);
    const bool is_bare = spread.unit == nullptr && !node.isa<isl::schedule_node_band>();
    for (const auto& mark : band->marks)
      if (!is_bare) node = node.insert_mark(mark);
  }
  node = node.insert_filter(spread.filter).insert_mark(marks::thread);
  for (auto serial = spread.above.rbegin(); serial != spread.above.rend(); ++serial)
    if (!serial->empty()) node = insert_loops(node, *serial).as<isl::schedule_node_band>().set_permutable(false);
  return node;
}

}  // namespace tc::polyhedral
