#include "tc/polyhedral/map_grid/spread_statement.h"

#include <algorithm>

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/loops.h"
#include "tc/polyhedral/core/marks.h"
#include "tc/polyhedral/map_grid/thread_digits.h"
#include "tc/polyhedral/map_grid/thread_map.h"

namespace tc::polyhedral {
namespace {

using isl::schedule_node;

/// A member of a band of one statement, and how it is spread over threads.
struct OwnMember {
  isl::union_pw_aff value;
  Interval range;
  bool coincident = false;
  ThreadLoop threads;
};
using OwnBand = std::vector<OwnMember>;

/// \p member as a loop of the instances \p domain, spread over threads: counted from 0.
GridLoop spread_loop(const OwnMember& member, const isl::union_set& domain) {
  return {from_origin(member.value, member.range.min, domain), member.range.extent(), member.coincident,
          member.threads};
}

GridLoop serial_loop(const OwnMember& member) { return {member.value, member.range.extent(), member.coincident, {}}; }

/// The bands below \p node, of the statement \p id alone, outermost first.
std::vector<OwnBand> bands_below(schedule_node node, const Scop& scop, const GridClusterState& state,
                                 const std::string& id) {
  std::vector<OwnBand> result;
  for (; node.isa<isl::schedule_node_band>(); node = node.child(0)) {
    result.emplace_back();
    auto members = band_members(node);
    auto coincident = band_coincident(node);
    for (std::size_t i = 0; i < members.size(); ++i) {
      auto iterator = only_iterator(members[i], scop.statement(id).domain);
      auto threads = iterator >= 0 ? state.threads(id, iterator) : ThreadLoop{};
      auto range = values(members[i], instances_at(node));
      result.back().push_back({members[i], range, static_cast<bool>(coincident[i]), threads});
    }
  }
  return result;
}

/// Sets the filter of \p spread to what its coordinates say.
void filter_by_threads(const std::array<std::int64_t, 3>& block, StatementThreads& spread) {
  for (int dimension = 0; dimension < 3; ++dimension) {
    if (block[dimension] <= 1) continue;
    auto& coordinate = spread.threads[dimension];
    if (coordinate.is_null()) coordinate = zero_on(spread.filter);
    spread.filter = spread.filter.intersect(equal_to(coordinate, thread_name(dimension)));
  }
}

/// The threads along which \p loops are spread.
void choose_threads(const GridLoops& loops, const std::array<std::int64_t, 3>& block, StatementThreads& spread) {
  for (const auto& loop : loops)
    for (const auto& [dimension, value, threads] : coordinates_of(loop, block)) {
      spread.threads[static_cast<std::size_t>(dimension)] = value;
      auto& used = spread.used[static_cast<std::size_t>(dimension)];
      used = std::max(used, threads);
    }
  filter_by_threads(block, spread);
}

/// The loops of a copy that \p choice names, in that order, each with how many of its runs are beside each other.
std::vector<std::pair<GridLoop, std::int64_t>> numbered_loops(const schedule_node& node, const Scop& scop,
                                                              const GridLoops& points, const std::vector<OwnBand>& own,
                                                              const GridStatement& choice) {
  auto all = points;
  for (const auto& band : own)
    for (const auto& member : band) all.push_back(serial_loop(member));
  std::vector<std::pair<GridLoop, std::int64_t>> result;
  for (const auto& wish : choice.loops)
    for (auto loop : all) {
      if (only_iterator(loop.index, scop.statement(choice.id).domain) != wish.iterator) continue;
      auto range = values(loop.index, instances_at(node));
      loop.index = from_origin(loop.index, range.min, instances_at(node));
      loop.extent = range.extent();
      loop.threads = wish.threads;
      result.emplace_back(loop, wish.beside);
    }
  return result;
}

/// The loops that the mapping of a copy names, counted as one and spread over all threads.
void spread_numbered(const std::vector<std::pair<GridLoop, std::int64_t>>& loops,
                     const std::array<std::int64_t, 3>& block, StatementThreads& spread) {
  ThreadDigits digits(block);
  spread.own.bands.resize(2);
  GridLoops &rounds = spread.own.bands[0], &groups = spread.own.bands[1];
  auto group_of = [](const GridLoop& loop) {
    return loop.threads.run > 1 ? quotient(loop.index, loop.threads.run) : loop.index;
  };
  for (const auto& [loop, beside] : loops)
    if (beside > 1) digits.add(remainder(group_of(loop), beside), beside);
  for (auto each = loops.rbegin(); each != loops.rend(); ++each) {
    const auto& [loop, beside] = *each;
    auto group = group_of(loop);
    auto count = (loop.extent + loop.threads.run - 1) / loop.threads.run;
    digits.add(beside > 1 ? quotient(group, beside) : group, (count + beside - 1) / beside);
    groups.insert(groups.begin(), {group, 1, true, {}});
    if (loop.threads.run > 1)
      spread.own.runs.push_back({remainder(loop.index, loop.threads.run), loop.threads.run, true, {}});
  }
  spread.threads = digits.threads;
  filter_by_threads(block, spread);
  auto& numbers = spread.numbers.emplace();
  for (const auto& round : digits.rounds) {
    rounds.push_back({round.index, 1, true, {}});
    numbers.push_back({round.index, round.count});
  }
  for (const auto& run : spread.own.runs) numbers.push_back({run.index, run.extent});
}

/// The members of the bands \p own, of the instances \p domain, that are serial; those that are spread over a dimension
/// of which \p spread has no loop yet are appended to it.
std::vector<GridLoops> serial_loops(const std::vector<OwnBand>& own, const isl::union_set& domain, GridLoops& spread) {
  std::vector<GridLoops> result;
  for (const auto& band : own) {
    result.emplace_back();
    for (const auto& member : band)
      if (member.threads.dimension >= 0 && !uses(spread, member.threads.dimension))
        spread.push_back(spread_loop(member, domain));
      else
        result.back().push_back(serial_loop(member));
  }
  return result;
}

/// Each thread runs through the statement's loops by itself; its tile of points stands below them if \p tile.
ThreadBands bands_ahead(const GridLoops& points, const std::vector<OwnBand>& own, const isl::union_set& domain,
                        bool tile, const std::array<std::int64_t, 3>& block) {
  ThreadBands result;
  GridLoops outer;
  for (const auto& loop : points) {
    bool rounds = tile && loop.threads.dimension >= 0;
    take_apart(loop, rounds ? block[loop.threads.dimension] : 0, outer, result.runs);
  }
  if (!tile) result.bands.push_back(outer);
  for (const auto& band : own) {
    result.bands.emplace_back();
    for (const auto& member : band) {
      bool spread = member.threads.dimension >= 0 && !uses(points, member.threads.dimension);
      take_apart(spread ? spread_loop(member, domain) : serial_loop(member), 0, result.bands.back(), result.runs);
    }
  }
  if (tile) result.bands.push_back(outer);
  return result;
}

/// The iterations that one instruction of \p unit, which computes \p statement, has of each loop: of \p points, then of
/// its \p own.
std::vector<std::int64_t> unit_sizes(const GridUnit& unit, const MatrixUnit& table, const Statement& statement,
                                     const GridLoops& points, const GridLoops& own) {
  std::vector<std::int64_t> result;
  for (const auto* loops : {&points, &own})
    for (const auto& loop : *loops) {
      auto iterator = only_iterator(loop.index, statement.domain);
      result.push_back(iterator == unit.rows      ? table.rows
                       : iterator == unit.columns ? table.columns
                       : iterator == unit.steps   ? table.steps
                                                  : 1);
    }
  return result;
}

bool all_coincident(const GridLoops& loops) {
  return std::all_of(loops.begin(), loops.end(), [](const GridLoop& loop) { return loop.coincident; });
}

}  // namespace

StatementThreads spread_statement(const schedule_node& node, const Scop& scop, const GridClusterState& state,
                                  const GridLoops& points, bool together) {
  auto id = statement_ids(node).at(0);
  auto choice = state.statement(id);
  auto own = bands_below(node, scop, state, id);
  StatementThreads result{id, everywhere(instances_at(node)), {}};
  if (choice.together) {
    spread_numbered(numbered_loops(node, scop, points, own, choice), state.block, result);
    return result;
  }
  auto spread = points;
  auto domain = instances_at(node);
  auto serial = serial_loops(own, domain, spread);
  choose_threads(spread, state.block, result);
  if (const auto* unit = unit_of(scop, choice)) {
    GridLoops loops;
    for (const auto& band : serial) loops.insert(loops.end(), band.begin(), band.end());
    result.own.bands = take_apart_for_unit(
        points, loops, unit_sizes(choice.unit, *unit, scop.statement(id), points, loops), unit->from_shared);
    return result;
  }
  if (!together) {
    result.own = bands_ahead(points, own, domain, choice.tile, state.block);
    return result;
  }
  result.above = serial;
  result.own.bands.emplace_back();
  for (const auto& loop : spread) take_apart(loop, 0, result.own.bands.back(), result.own.runs);
  return result;
}

const MatrixUnit* unit_of(const Scop& scop, const GridStatement& choice) {
  if (choice.unit.name.empty()) return nullptr;
  const auto& operand = scop.statement(choice.id).reads.front();
  return matrix_unit(choice.unit.name, scop.tensor(range_name(operand.relation)).type);
}

int vector_lanes(const StatementThreads& spread, const GridClusterState& state) {
  auto choice = state.statement(spread.id);
  if (!choice.vector || spread.own.runs.empty()) return 0;
  std::int64_t result = 1;
  for (const auto& loop : choice.loops) result = std::max(result, loop.threads.run);
  for (const auto& member : state.mapping.members) result = std::max(result, member.threads.run);
  return static_cast<int>(result);
}

schedule_node insert_threads(schedule_node node, const StatementThreads& spread, const GridStatement& choice) {
  while (node.isa<isl::schedule_node_band>()) node = erase(node);
  auto runs = spread.own.runs;
  std::stable_partition(runs.begin(), runs.end(), [](const GridLoop& loop) { return loop.threads.dimension > 0; });
  if (choice.vector && !runs.empty()) {
    node = insert_loops(node, GridLoops{runs.back()}).insert_mark(marks::vector);
    runs.pop_back();
  }
  node = insert_loops(node, runs);
  const auto& bands = spread.own.bands;
  for (auto band = bands.rbegin(); band != bands.rend(); ++band) {
    if (!band->empty())
      node = insert_loops(node, *band).as<isl::schedule_node_band>().set_permutable(all_coincident(*band));
    if (!choice.unit.name.empty() && band == bands.rbegin() + 1) node = node.insert_mark(marks::unit);
  }
  bool unrolls = choice.unroll && (node.isa<isl::schedule_node_band>() || !choice.unit.name.empty());
  if (unrolls) node = node.insert_mark(marks::register_tile);
  node = node.insert_filter(spread.filter).insert_mark(marks::thread);
  for (auto serial = spread.above.rbegin(); serial != spread.above.rend(); ++serial)
    if (!serial->empty()) node = insert_loops(node, *serial).as<isl::schedule_node_band>().set_permutable(false);
  return node;
}

}  // namespace tc::polyhedral
