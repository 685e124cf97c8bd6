#include "tc/strategy/cpu/choose_mapping.h"

#include <algorithm>
#include <array>
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

/// Other lanes than those with most accesses in order, other rows of a tile, and copies, blocks and loops on threads, which are more
/// work for a processor than none, are taken where the price is less by so much. Of 304 programs four choose otherwise than with
/// 0.97, by 1.04 in the geometric mean, and two more with 0.99, one of them at 0.80.
constexpr double least_gain_of_more = 0.985;

/// Makes mappings of a cluster, and asks prices where there are several.
class MappingChooser {
 public:
  MappingChooser(const ClusterFacts& facts, const PriceOfMapping& seconds) : facts_(facts), seconds_(seconds) {}

  /// The cheapest of those for any lanes of the heaviest statement.
  ClusterMapping choose() {
    if (!facts_.options.vectorise) return around({given_blocks(facts_)});
    std::vector<ClusterMapping> candidates;
    for (const auto& lanes : tile_lanes(facts_)) {
      candidates.push_back(choose(lanes));
      if (candidates.back().dot.of_matrices()) break;  // such a tile has lanes of its own, whatever is asked for
    }
    return cheapest(candidates, seconds_, least_gain_of_more);
  }

 private:
  /// The cheapest for \p lanes and the register tile that the rules choose, or one with other rows, where that is cheaper.
  ClusterMapping choose(const VectorChoice& lanes) {
    const auto tiling = choose_tile(facts_, given_blocks(facts_), lanes);
    std::vector<ClusterMapping> candidates{around(tiling)};
    for (int rows : tiling.rivals) candidates.push_back(around(choose_tile(facts_, given_blocks(facts_), lanes, rows)));
    return cheapest(candidates, seconds_, least_gain_of_more);
  }
  /// The cheapest with copies, blocks and loops around \p tiling.
  ClusterMapping around(const Tiling& tiling) {
    if (tiling.blocked.empty()) return choose_outermost(facts_, with_lanes(tiling.mapping, tiling.lanes), seconds_);
    return cheapest(with_lanes(tiling.blocked, tiling.lanes), seconds_, least_gain_of_more);
  }

  ClusterMapping with_lanes(ClusterMapping mapping, const VectorChoice& lanes) const {
    if (facts_.options.vectorise) mapping = choose_lanes(facts_, lanes, mapping);
    if (facts_.options.promote && facts_.member_count() > 0) mapping.staged = choose_staged(facts_, mapping);
    return mapping;
  }
  /// The same for \p mappings of one tile, whose lanes differ where the reduction is cut, not by copies, blocks and loops.
  std::vector<ClusterMapping> with_lanes(std::vector<ClusterMapping> mappings, const VectorChoice& lanes) const {
    std::array<std::optional<ClusterMapping>, 2> known;
    for (auto& mapping : mappings) {
      auto& like = known[mapping.reduction.iterator >= 0 ? 1 : 0];
      if (!like) like = with_lanes(mapping, lanes);
      mapping.statements = like->statements;
      mapping.copies = like->copies;
      mapping.staged = like->staged;
    }
    return mappings;
  }

  const ClusterFacts& facts_;
  const PriceOfMapping& seconds_;
};

}  // namespace

std::int64_t buffer_bytes(const Target& target, const MappingOptions& options) {
  if (!options.promote) return 0;
  return options.promote_bytes > 0 ? options.promote_bytes : std::min<std::int64_t>(target.l2_bytes / 4, 256 << 10);
}

ClusterMapping choose_cluster_mapping(const Scop& scop, const ClusterView& cluster, const Target& target,
                                      const MappingOptions& options, const OperationsOfBodies& bodies) {
  if (cluster.statements.empty()) return {};
  auto machine = target;
  if (options.vector_bytes > 0) machine.widest_vector = static_cast<int>(options.vector_bytes);
  const ClusterFacts facts(scop, cluster, machine, options);
  std::optional<PricedCluster> priced;
  return choose_cluster_mapping(facts, [&](const ClusterMapping& mapping, double limit) {
    if (!priced) priced.emplace(scop, cluster, machine, bodies);
    return price_up_to(limit, *priced, mapping, buffer_bytes(machine, options));
  });
}

ClusterMapping choose_cluster_mapping(const ClusterFacts& facts, const PriceOfMapping& seconds) {
  return MappingChooser(facts, seconds).choose();
}

polyhedral::Mapping choose_mapping(const polyhedral::ClusteredScop& clustered, const Target& target,
                                   const MappingOptions& options, const OperationsOfBodies& bodies) {
  polyhedral::Mapping result;
  result.buffer_bytes = buffer_bytes(target, options);
  for (const auto& cluster : clustered.clusters)
    result.clusters.push_back(choose_cluster_mapping(clustered.scop, cluster, target, options, bodies));
  return result;
}

}  // namespace tc::strategy
