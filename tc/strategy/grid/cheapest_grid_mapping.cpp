#include "tc/strategy/grid/cheapest_grid_mapping.h"

#include "tc/base/count_product.h"
#include "tc/strategy/grid/choose_grid_mapping.h"
#include "tc/strategy/grid/grid_candidates.h"
#include "tc/strategy/grid_price/grid_price.h"

namespace tc::strategy {
namespace {

using polyhedral::GridClusterMapping;

/// Of the price of what rules choose, at most, at which something else is taken.
constexpr double least_share = 0.9;
/// Instances of a cluster from which on a search pays.
constexpr std::int64_t least_instances = 1 << 16;

bool names_sizes(const polyhedral::MappingOptions& options) {
  return !options.tile.empty() || !options.register_tile.empty() || !options.block.empty() || !options.grid.empty() ||
         options.reduction_block > 0 || options.gather_reuse > 0 || !options.shared || !options.registers ||
         !options.promote || options.cooperative;
}

bool is_worth_it(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster) {
  std::int64_t instances = 0;
  for (const auto& entry : cluster.statements)
    instances = std::min(instances + polyhedral::instance_count(scop.statement(entry.id).domain), most_counted);
  return instances >= least_instances;
}

struct Priced {
  GridClusterMapping mapping;
  double seconds = 0;
};

/// \p mapping with half the blocks, as often as that is cheaper.
Priced with_fewer_blocks(const PricedCluster& cluster, Priced best) {
  for (;;) {
    auto half = with_half_the_blocks(best.mapping);
    if (half == best.mapping) return best;
    auto seconds = grid_price(cluster, half).seconds;
    if (seconds >= best.seconds) return best;
    best = {half, seconds};
  }
}

GridClusterMapping cheapest(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster, const Target& target,
                            const polyhedral::MappingOptions& options, const OperationsOfBodies& bodies) {
  auto rules = choose_grid_cluster(scop, cluster, *target.grid, options);
  if (names_sizes(options) || !is_worth_it(scop, cluster)) return rules;
  PricedCluster priced(scop, cluster, target, bodies);
  auto by_rules = grid_price(priced, rules).seconds;
  Priced best{rules, by_rules};
  for (const auto& mapping : grid_candidates(scop, cluster, *target.grid, options)) {
    auto seconds = grid_price(priced, mapping).seconds;
    if (seconds < best.seconds) best = {mapping, seconds};
  }
  best = with_fewer_blocks(priced, best);
  return best.seconds < least_share * by_rules ? best.mapping : rules;
}

}  // namespace

polyhedral::GridMapping cheapest_grid_mapping(const polyhedral::ClusteredScop& clustered, const Target& target,
                                              const polyhedral::MappingOptions& options,
                                              const OperationsOfBodies& bodies) {
  polyhedral::GridMapping result;
  for (const auto& cluster : clustered.clusters)
    result.clusters.push_back(cheapest(clustered.scop, cluster, target, options, bodies));
  return result;
}

}  // namespace tc::strategy
