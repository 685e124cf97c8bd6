#include "tc/strategy/construct/choose_for_ranges.h"

#include <algorithm>
#include <cmath>

#include "tc/polyhedral/core/at_sizes.h"
#include "tc/strategy/price/price.h"

namespace tc::strategy {
namespace {

/// Lanes of the widest vectors: the tiles of shorter loops are few.
constexpr std::int64_t short_loop = 16;

/// Have loops over tiles of \p cluster several last tiles that are partial: at the ends of two long members?
bool ends_in_corners(const polyhedral::ClusterView& cluster) {
  return std::count_if(cluster.members.begin(), cluster.members.end(), [](const polyhedral::Interval& member) {
           return member.symbolic && member.extent() > short_loop;
         }) > 1;
}

}  // namespace

polyhedral::ClusterMapping choose_for_ranges(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster,
                                             const std::map<std::string, std::int64_t>& within,
                                             const std::map<std::string, std::int64_t>& least, const Target& machine,
                                             std::int64_t buffer_bytes, const OperationsOfBodies& bodies,
                                             const ChooseMapping& choose) {
  const auto at_largest = choose(scop, cluster);
  if (ends_in_corners(cluster)) return at_largest;
  const auto inside = polyhedral::at_sizes(scop, cluster, within);
  const auto at_within = choose(inside.scop, inside.cluster);
  if (at_within == at_largest) return at_largest;
  const auto smallest = polyhedral::at_sizes(scop, cluster, least);
  const PricedCluster points[] = {{scop, cluster, machine, bodies},
                                  {inside.scop, inside.cluster, machine, bodies},
                                  {smallest.scop, smallest.cluster, machine, bodies}};
  double lost_by_largest = 1, lost_by_within = 1;
  for (const auto& point : points) {
    const auto largest = price(point, at_largest, buffer_bytes).seconds;
    const auto other = price(point, at_within, buffer_bytes).seconds;
    lost_by_largest = std::max(lost_by_largest, largest / other);
    lost_by_within = std::max(lost_by_within, other / largest);
  }
  return lost_by_within < lost_by_largest ? at_within : at_largest;
}

std::int64_t size_within(std::int64_t least, std::int64_t most) {
  const auto mean = std::sqrt(static_cast<double>(least) * static_cast<double>(most));
  if (mean < 4) return std::llround(mean);
  std::int64_t result = 4;
  while (2 * static_cast<double>(result) <= mean) result *= 2;
  return std::max(result, least);
}

}  // namespace tc::strategy
