#include "tc/strategy/cpu/choose_mapping.h"

#include <algorithm>

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

struct Chosen {
  ClusterMapping mapping;
  std::vector<int> rivals;  ///< Tiling::rivals
};

Chosen choose(const ClusterFacts& facts, std::optional<int> rows = std::nullopt) {
  Tiling tiling{given_blocks(facts)};
  if (facts.options.vectorise) {
    tiling = choose_tile(facts, tiling.mapping, rows);
    tiling.mapping = choose_lanes(facts, tiling.lane_member, tiling.mapping);
  }
  auto mapping = tiling.mapping;
  if (facts.options.promote && facts.member_count() > 0) mapping.staged = choose_staged(facts, mapping);
  return {tiling.blocked ? mapping : choose_outermost(facts, mapping), tiling.rivals};
}

/// A tile with other rows is taken where its price is less by so much: prices of mappings that are much alike differ by noise.
constexpr double least_row_gain = 0.95;

/// What the rules choose, or the same for other rows of the register tile, where that is cheaper.
ClusterMapping choose_by_price(const ClusterFacts& facts) {
  auto chosen = choose(facts);
  if (chosen.rivals.empty()) return std::move(chosen.mapping);
  const PricedCluster priced(facts.scop, facts.cluster, facts.target);
  const auto seconds = [&](const ClusterMapping& mapping) {
    return price(priced, mapping, buffer_bytes(facts.target, facts.options)).seconds;
  };
  auto least = least_row_gain * seconds(chosen.mapping);
  for (int rows : chosen.rivals) {
    auto other = choose(facts, rows).mapping;
    const auto cost = seconds(other);
    if (cost >= least) continue;
    least = cost;
    chosen.mapping = std::move(other);
  }
  return std::move(chosen.mapping);
}

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
  return choose_by_price(ClusterFacts(scop, cluster, machine, options));
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
