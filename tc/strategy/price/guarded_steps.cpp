#include "tc/strategy/price/guarded_steps.h"

#include <algorithm>

#include "tc/base/contains.h"

namespace tc::strategy {
namespace {

/// What conditions of each instance add to a step, of its time: masks of lanes, and branches around vectors (fitted to drawn
/// convolutions on a Zen 4).
constexpr double masked_lanes = 0.5, own_conditions = 1.5;

/// How much longer a step takes whose rows have conditions of their own beside masks of lanes, all of which are then asked in the
/// innermost loop (fitted to sums to one channel on a Zen 4).
constexpr double rows_beside_masks = 1.7;

/// Values of each iterator in one execution of the loops from number \p first on, of that of the lanes all of a vector.
std::vector<double> points_of_conditions(const PricedStatement& statement, const StatementWalk& nest,
                                         std::size_t first) {
  auto points = nest.spans(statement, first);
  if (nest.lane_iterator < 0) return points;
  auto& lanes = points[static_cast<std::size_t>(nest.lane_iterator)];
  lanes = std::max<double>(lanes, nest.lanes);
  return points;
}

/// Do loops of \p nest from number \p first up to \p end change what \p guard speaks of?
bool changes_in(const Guard& guard, const StatementWalk& nest, std::size_t first, std::size_t end) {
  return std::any_of(
      nest.loops.begin() + static_cast<long>(first), nest.loops.begin() + static_cast<long>(end),
      [&](const WalkedLoop& loop) { return loop.trips > 1 && contains(guard.iterators, loop.iterator); });
}

}  // namespace

bool masks_lanes(const PricedStatement& statement, const StatementWalk& nest) {
  return std::any_of(statement.guards.begin(), statement.guards.end(),
                     [&](const Guard& guard) { return contains(guard.iterators, nest.lane_iterator); });
}

double guarded_steps(const PricedStatement& statement, const StatementWalk& nest) {
  if (statement.guards.empty()) return 1;
  const auto one = points_of_conditions(statement, nest, nest.loops.size()),
             step = points_of_conditions(statement, nest, nest.points);
  const bool asks = nest.unrolled && asks_in_each_step(statement, nest), masks = masks_lanes(statement, nest);
  double result = 1;
  for (const auto& guard : statement.guards) {
    const bool own = changes_in(guard, nest, nest.tile, nest.points),
               rows = nest.unrolled && changes_in(guard, nest, nest.points, nest.loops.size()),
               of_lanes = contains(guard.iterators, nest.lane_iterator);
    const auto shares = guarded_shares(guard, statement.extent, asks && own ? step : one);
    result *= shares.some + (of_lanes ? masked_lanes : own_conditions) * (shares.some - shares.all);
    if (!of_lanes && masks && rows && own) result *= rows_beside_masks;
  }
  return result;
}

bool asks_in_each_step(const PricedStatement& statement, const StatementWalk& nest) {
  const int innermost = nest.points > 0 ? nest.loops[nest.points - 1].iterator : -1;
  return masks_lanes(statement, nest) ||
         std::any_of(statement.guards.begin(), statement.guards.end(),
                     [&](const Guard& guard) { return nest.points > 0 && contains(guard.iterators, innermost); });
}

}  // namespace tc::strategy
