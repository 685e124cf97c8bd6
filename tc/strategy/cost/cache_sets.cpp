#include "tc/strategy/cost/cache_sets.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tc/base/target.h"

namespace tc::strategy {

double sets_of(std::span<const LineStep> steps, double way_bytes) {
  double sets = 1;
  for (const auto& step : steps) {
    auto apart = std::gcd(static_cast<std::int64_t>(step.bytes), static_cast<std::int64_t>(way_bytes));
    sets *= std::min(step.count, way_bytes / static_cast<double>(std::max<std::int64_t>(apart, Target::cache_line)));
  }
  return std::min(sets, way_bytes / Target::cache_line);
}

double lines_of_a_set(std::span<const LineStep> steps, double way_bytes) {
  double lines = 1;
  for (const auto& step : steps) lines *= step.count;
  return std::ceil(lines / sets_of(steps, way_bytes));
}

}  // namespace tc::strategy
