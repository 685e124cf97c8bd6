#include "tc/strategy/cpu/choose_tile.h"

#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/strategy/cpu/block_candidates.h"
#include "tc/strategy/cpu/choose_lines.h"
#include "tc/strategy/cpu/choose_window.h"
#include "tc/strategy/cpu/matrix_tile.h"
#include "tc/strategy/cpu/register_tile.h"

namespace tc::strategy {
namespace {

using polyhedral::Access;
using polyhedral::ClusterMapping;

/// What a tile whose lanes run along the reduction has to save of the loads, to make up for the lanes it combines.
constexpr double least_gain = 3;

Operand operand(const ClusterFacts& facts, const Access& read, int lane_iterator) {
  Operand result;
  auto changes = [&](int iterator) { return iterator >= 0 && polyhedral::stride(facts.scop, read, iterator) != 0; };
  const auto& outer = facts.heaviest.outer;
  for (int iterator : outer) result.members.push_back(changes(iterator));
  result.vector = changes(lane_iterator);
  result.across = std::any_of(outer.begin(), outer.end(), [&](int iterator) {
    return iterator >= 0 && polyhedral::stride(facts.scop, read, iterator) == 1;
  });
  return result;
}

/// What the reads of the heaviest statement depend on, in vectors of \p lanes that are points of \p member.
std::vector<Operand> operands_of(const ClusterFacts& facts, const VectorChoice& lanes, int member,
                                 const ClusterMapping& mapping) {
  std::vector<Operand> result;
  bool cut = member >= 0 && facts.extent(member, mapping) % mapping.members[member].points != 0;
  for (const auto& read : facts.statement(facts.heaviest).reads) {
    result.push_back(operand(facts, read, lanes.iterator));
    result.back().cut = cut && result.back().vector;
  }
  return result;
}

/// Iterations of each member, of \p member vectors, in a block of \p mapping.
std::vector<std::int64_t> vector_trips(const ClusterFacts& facts, int member, const ClusterMapping& mapping) {
  std::vector<std::int64_t> result;
  for (int i = 0; i < facts.member_count(); ++i)
    result.push_back(ceil_div(facts.extent(i, mapping), i == member ? mapping.members[i].points : 1));
  return result;
}

/// \p before with the register tile for \p lanes, along its lane member or along the reduction, and blocks around it.
Tiling with_register_tile(const ClusterFacts& facts, const VectorChoice& lanes, const Tiling& before,
                          std::optional<int> rows) {
  auto result = before;
  auto& mapping = result.mapping;
  const auto& options = facts.options;
  int member = member_of(facts.heaviest, lanes.iterator);
  if (auto order = facts.fixed(facts.heaviest); order && order->vectors > 1) return before;
  auto trips = vector_trips(facts, member, mapping);
  auto operands = operands_of(facts, lanes, member, mapping);
  auto tile = rows ? choose_register_tile_of(*rows, operands, trips, member, facts.target)
                   : choose_register_tile(operands, trips, member, facts.target, options.register_tile);
  if (member < 0 && !facts.is_kept(facts.heaviest, lanes.iterator) && tile.gain < least_gain) return before;
  if (!rows && options.register_tile.empty()) result.rivals = rival_rows(operands, trips, member, facts.target, tile);
  auto window = member < 0 ? std::nullopt : choose_window(facts, tile, operands);
  if (window) {
    operands[window->read].window = window->mapping.width;
    operands[window->read].step = window->mapping.step;
    tile = choose_window_tile(operands, trips, tile, facts.target, options.register_tile);
  }
  if (window && tile.row_count > 1) mapping.window = window->mapping;
  mapping.register_tile = true;
  if (tile.rows >= 0) mapping.members[tile.rows].points *= tile.row_count;
  if (tile.columns >= 0) mapping.members[tile.columns].points *= tile.column_count;
  if (member >= 0 && options.promote && options.tile.empty() && facts.is_tiled_reduction(facts.heaviest))
    result.blocked = block_candidates(facts.scop, facts.cluster, {facts.heaviest, tile.rows, member}, facts.target,
                                      options, mapping);
  for (auto& each : result.blocked)
    if (each.dot.iterator >= 0) each.window = {};
  return result;
}

/// \p mapping with \p tile, and blocks around it.
Tiling with_matrix_tile(const ClusterFacts& facts, const MatrixTile& tile, const ClusterMapping& mapping) {
  const int columns = facts.heaviest.outer[static_cast<std::size_t>(tile.columns)];
  Tiling result{mapping, {columns, vector_lanes(facts.scop, facts.statement(facts.heaviest), facts.target), 0}};
  result.mapping.members[tile.rows].points = tile.row_points;
  result.mapping.members[tile.columns].points = tile.column_points;
  result.mapping.register_tile = true;
  result.mapping.dot = tile.dot;
  result.blocked = block_candidates(facts.scop, facts.cluster, {facts.heaviest, tile.rows, tile.columns}, facts.target,
                                    facts.options, result.mapping);
  return result;
}

}  // namespace

Tiling choose_tile(const ClusterFacts& facts, const ClusterMapping& mapping, const VectorChoice& lanes,
                   std::optional<int> rows) {
  const auto& heaviest = facts.heaviest;
  bool reduces = facts.is_tiled_reduction(heaviest);
  if (reduces)
    if (auto tile = choose_matrix_tile(facts.scop, facts.cluster, heaviest, facts.target, facts.options))
      return with_matrix_tile(facts, *tile, mapping);
  Tiling result{mapping, lanes};
  int member = member_of(heaviest, lanes.iterator);
  if (member >= 0) result.mapping.members[member].points = lanes_within(lanes.lanes, facts.extent(member, mapping));
  if (lanes.iterator >= 0 && (reduces || facts.is_reduction_of_step(heaviest)))
    return with_register_tile(facts, lanes, result, rows);
  if (member >= 0) result.mapping = choose_lines(facts, lanes, result.mapping);
  return result;
}

std::vector<VectorChoice> tile_lanes(const ClusterFacts& facts) {
  auto candidates = facts.outer_candidates(facts.heaviest);
  auto inner = facts.inner_candidates(facts.heaviest);
  candidates.insert(candidates.end(), inner.begin(), inner.end());
  std::vector<VectorChoice> result{facts.best_lanes(facts.heaviest, candidates)};
  if (!facts.is_tiled_reduction(facts.heaviest) && !facts.is_reduction_of_step(facts.heaviest)) return result;
  for (const auto& lanes : facts.possible_lanes(facts.heaviest, candidates))
    if (lanes.iterator != result.front().iterator) result.push_back(lanes);
  return result;
}

}  // namespace tc::strategy
