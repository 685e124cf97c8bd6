#include "tc/strategy/grid_price/warp_costs.h"

#include <algorithm>
#include <map>
#include <vector>

#include "tc/base/ceil_div.h"
#include "tc/base/shared_banks.h"
#include "tc/strategy/grid_price/access_box.h"
#include "tc/strategy/grid_price/thread_places.h"

namespace tc::strategy {
namespace {

/// Blocks whose addresses stand for those of all.
constexpr std::int64_t sampled_blocks = 8;
/// Sectors that the first cache gives in a round: a line.
constexpr double sectors_of_a_round = 4;
/// Rounds in which it looks up one line: 2.5 to 3 times as long as its sectors take for warps that read 32 lines, measured on an
/// H100 (sums of rows that threads have each).
constexpr double rounds_of_a_line = 0.65;

/// Elements from value 0 of iterator \p i to \p value.
std::int64_t place(const PricedAccess& access, std::size_t i, std::int64_t value) {
  if (!access.used[i]) return 0;
  const auto& blocks = access.blocks[i];
  if (blocks.size > 0) return value / blocks.size * blocks.between + value % blocks.size * blocks.inside;
  return value * (access.strides[i] == polyhedral::unknown_stride ? far_apart : access.strides[i]);
}

/// Bytes by which blocks begin behind a sector, and how many of the sampled ones do.
std::map<std::int64_t, double> shifts_of(const PricedAccess& access, const ThreadSpread& spread, std::int64_t element,
                                         std::int64_t sector) {
  std::map<std::int64_t, double> result;
  for (std::int64_t b = 0; b < sampled_blocks; ++b) {
    std::int64_t at = 0;
    for (std::size_t i = 0; i < spread.iterators.size(); ++i) {
      const auto& it = spread.iterators[i];
      if (it.grid >= 0) at += place(access, i, std::min(b, ceil_div(it.extent, it.tile) - 1) * it.tile);
    }
    result[at * element - floor_div(at * element, sector) * sector] += 1.0 / sampled_blocks;
  }
  return result;
}

WarpCosts cost_of(const WarpAccess& warp, const std::map<std::int64_t, double>& shifts, const GridLimits& limits) {
  WarpCosts result{.warps = 1};
  const auto line = static_cast<std::int64_t>(sectors_of_a_round) * limits.sector_bytes;
  double lines = 0;
  for (const auto& [shift, share] : shifts) {
    result.sectors += share * static_cast<double>(sectors(warp, limits.sector_bytes, shift));
    lines += share * static_cast<double>(sectors(warp, line, shift));
  }
  result.shared_rounds = static_cast<double>(BankCounter(limits.shared_banks).count(warp).fewest);
  result.cache_rounds = std::max({result.sectors / sectors_of_a_round, result.shared_rounds, lines * rounds_of_a_line});
  return result;
}

}  // namespace

WarpCosts warp_costs(const PricedAccess& access, const AccessForm& form, const ThreadSpread& spread,
                     const KernelShape& shape, const GridLimits& limits) {
  const ThreadPlaces places(
      spread, shape, [&](std::size_t i, std::int64_t value) { return place(access, i, value); },
      [&](int d) { return form.write ? spread.moves_along(access, d) : spread.uses(d); });
  auto shifts = shifts_of(access, spread, form.element, limits.sector_bytes);
  auto whole = std::max<std::int64_t>(limits.sector_bytes / form.element, 1);
  std::map<std::vector<std::int64_t>, WarpCosts> known;
  WarpCosts result;
  WarpAccess warp{"", form.write, static_cast<int>(form.element), static_cast<int>(form.at_once), 1, {}};
  for (std::int64_t first = 0; first < shape.threads(); first += limits.warp_size) {
    warp.places.clear();
    for (auto t = first; t < std::min(first + limits.warp_size, shape.threads()); ++t)
      if (places.runs(t)) warp.places.push_back(places(t));
    if (warp.places.empty()) continue;
    auto base = floor_div(warp.places[0], whole) * whole;
    for (auto& at : warp.places) at -= base;
    auto found = known.find(warp.places);
    if (found == known.end()) found = known.emplace(warp.places, cost_of(warp, shifts, limits)).first;
    result.warps += 1;
    result.sectors += found->second.sectors;
    result.cache_rounds += found->second.cache_rounds;
    result.shared_rounds += found->second.shared_rounds;
  }
  return result;
}

ActiveThreads active_threads(const ThreadSpread& spread, const KernelShape& shape, const GridLimits& limits) {
  const ThreadPlaces places(
      spread, shape, [](std::size_t, std::int64_t) { return 0; }, [&](int d) { return spread.uses(d); });
  ActiveThreads result;
  for (std::int64_t first = 0; first < shape.threads(); first += limits.warp_size) {
    double active = 0;
    for (auto t = first; t < std::min(first + limits.warp_size, shape.threads()); ++t) active += places.runs(t);
    result.threads += active;
    result.warps += active > 0;
  }
  return result;
}

}  // namespace tc::strategy
