#include "tc/strategy/cpu/choose_mapping.h"

#include <algorithm>
#include <optional>

#include "tc/strategy/cpu/choose_lanes.h"
#include "tc/strategy/cpu/choose_outermost.h"
#include "tc/strategy/cpu/choose_staged.h"
#include "tc/strategy/cpu/choose_tile.h"
#include "tc/strategy/price/price.h"

namespace tc::strategy {
namespace {

using polyhedral::ClusterMapping;
using polyhedral::ClusterView;
using polyhedral::MappingOptions;
using polyhedral::Scop;

/// Nothing but the blocks that the user gives.
ClusterMapping given_blocks(const ClusterFacts& facts) {
  ClusterMapping result;
  result.members.resize(facts.cluster.members.size());
  for (std::size_t i = 0; i < result.members.size() && i < facts.options.tile.size(); ++i)
    result.members[i].block = facts.options.tile[i];
  return result;
}

/// A tile with other rows is taken where its price is less by so much: prices of mappings that are much alike differ by noise.
constexpr double least_row_gain = 0.95;

/// Makes mappings of a cluster, and asks prices where there are several.
class MappingChooser {
 public:
  explicit MappingChooser(const ClusterFacts& facts) : facts_(facts) {}

  /// What the rules choose, or the same for other rows of the register tile, where that is cheaper.
  ClusterMapping choose() {
    std::vector<int> rivals;
    std::vector<ClusterMapping> candidates{choose(std::nullopt, &rivals)};
    for (int rows : rivals) candidates.push_back(choose(rows, nullptr));
    return cheapest(candidates, seconds(), least_row_gain);
  }

 private:
  ClusterMapping choose(std::optional<int> rows, std::vector<int>* rivals) {
    Tiling tiling{given_blocks(facts_)};
    if (facts_.options.vectorise) {
      tiling = choose_tile(facts_, tiling.mapping, rows);
      tiling.mapping = choose_lanes(facts_, tiling.lane_member, tiling.mapping);
    }
    if (rivals) *rivals = tiling.rivals;
    auto mapping = tiling.mapping;
    if (facts_.options.promote && facts_.member_count() > 0) mapping.staged = choose_staged(facts_, mapping);
    return tiling.blocked ? mapping : choose_outermost(facts_, mapping, seconds());
  }

  PriceOfMapping seconds() {
    return [this](const ClusterMapping& mapping) {
      if (!priced_) priced_.emplace(facts_.scop, facts_.cluster, facts_.target);
      return price(*priced_, mapping, buffer_bytes(facts_.target, facts_.options)).seconds;
    };
  }

  const ClusterFacts& facts_;
  std::optional<PricedCluster> priced_;
};

}  // namespace

std::int64_t buffer_bytes(const Target& target, const MappingOptions& options) {
  if (!options.promote) return 0;
  return options.promote_bytes > 0 ? options.promote_bytes : std::min<std::int64_t>(target.l2_bytes / 4, 256 << 10);
}

ClusterMapping choose_cluster_mapping(const Scop& scop, const ClusterView& cluster, const Target& target,
                                      const MappingOptions& options) {
  if (cluster.statements.empty()) return {};
  auto machine = target;
  if (options.vector_bytes > 0) machine.widest_vector = static_cast<int>(options.vector_bytes);
  const ClusterFacts facts(scop, cluster, machine, options);
  return MappingChooser(facts).choose();
}

polyhedral::Mapping choose_mapping(const polyhedral::ClusteredScop& clustered, const Target& target,
                                   const MappingOptions& options) {
  polyhedral::Mapping result;
  result.buffer_bytes = buffer_bytes(target, options);
  for (const auto& cluster : clustered.clusters)
    result.clusters.push_back(choose_cluster_mapping(clustered.scop, cluster, target, options));
  return result;
}

}  // namespace tc::strategy
