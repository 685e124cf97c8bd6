#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "tc/polyhedral/map/mapping.h"

namespace tc::strategy {

/// The seconds that a mapping of some cluster may take where they are less than a limit, else no less than that (price_up_to()).
using PriceOfMapping = std::function<double(const polyhedral::ClusterMapping&, double)>;

/// The cheapest of \p candidates, at least one; the first, where no price is below \p gain times its own.
inline polyhedral::ClusterMapping cheapest(const std::vector<polyhedral::ClusterMapping>& candidates,
                                           const PriceOfMapping& seconds, double gain) {
  if (candidates.size() == 1) return candidates.front();
  const auto* chosen = &candidates.front();
  auto least = gain * seconds(*chosen, std::numeric_limits<double>::infinity());
  for (const auto& candidate : candidates)
    if (auto cost = seconds(candidate, least); cost < least) {
      least = cost;
      chosen = &candidate;
    }
  return *chosen;
}

}  // namespace tc::strategy
