#include "tc/strategy/cpu/choose_mapping.h"

#include <algorithm>

#include "tc/strategy/cpu/choose_lanes.h"
#include "tc/strategy/cpu/choose_outermost.h"
#include "tc/strategy/cpu/choose_staged.h"
#include "tc/strategy/cpu/choose_tile.h"

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

ClusterMapping choose(const ClusterFacts& facts) {
  Tiling tiling{given_blocks(facts)};
  if (facts.options.vectorise) {
    tiling = choose_tile(facts, tiling.mapping);
    tiling.mapping = choose_lanes(facts, tiling.lane_member, tiling.mapping);
  }
  auto mapping = tiling.mapping;
  if (facts.options.promote && facts.member_count() > 0) mapping.staged = choose_staged(facts, mapping);
  return tiling.blocked ? mapping : choose_outermost(facts, mapping);
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
  return choose(ClusterFacts(scop, cluster, machine, options));
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
