#include "tc/strategy/construct/cheapest_grid_mapping.h"

#include <algorithm>
#include <cmath>

#include "tc/base/count_product.h"
#include "tc/polyhedral/map_grid/check_kernel_nest.h"
#include "tc/polyhedral/nest/idle_loops.h"
#include "tc/polyhedral/nest/nest_of_mapping.h"
#include "tc/strategy/construct/plain_kernels.h"
#include "tc/strategy/construct/walk_kernels.h"
#include "tc/strategy/grid/choose_grid_mapping.h"
#include "tc/strategy/grid/grid_candidates.h"
#include "tc/strategy/grid/tile_ordered_loop.h"
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

/// Do blocks of \p price begin so slowly that multiprocessors wait for them: in half of the time of all else, or more?
bool begins_slowly(const GridPrice& price) {
  auto cycles = std::max(
      {price.instructions, price.operations, price.functions, price.units, price.rounds, price.l2, price.latency});
  return 2 * price.starts > std::max(cycles, price.memory * price.hertz);
}

/// \p best with half the blocks, as often as they begin slowly and that is cheaper.
PricedGridMapping with_fewer_blocks(const PricedCluster& cluster, PricedGridMapping best) {
  while (begins_slowly(best.price)) {
    auto half = with_half_the_blocks(best.mapping);
    auto price = grid_price(cluster, half);
    if (half == best.mapping || price.seconds >= best.price.seconds) break;
    best = {half, price};
  }
  return best;
}

/// The cheapest nest of an ordered loop around products that the program allows.
std::optional<PricedGridMapping> cheapest_loop_tile(const polyhedral::Scop& scop,
                                                    const polyhedral::ClusterView& cluster,
                                                    const PricedCluster& priced) {
  std::vector<PricedGridMapping> all;
  for (const auto& tile : ordered_loop_tiles(scop, cluster, priced.nests, *priced.target.grid)) {
    auto nest = polyhedral::without_idle_loops(priced.nests, tile);
    auto price = grid_price(priced, nest);
    const bool spills = price.counts.registers > static_cast<double>(priced.target.grid->thread_registers);
    if (std::isfinite(price.seconds) && !spills) all.push_back({{}, price, std::move(nest)});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.price.seconds < b.price.seconds; });
  for (const auto& each : all)
    if (polyhedral::is_realisable_kernel(scop, cluster, *each.nest, *priced.target.grid)) return each;
  return std::nullopt;
}

bool walks(const std::optional<ConstructionSearch>& search) {
  using Policy = ConstructionPolicy;
  return search &&
         (search->policy == Policy::BestFirst || search->policy == Policy::Roller || search->policy == Policy::Gensor);
}

/// What a walk from plain kernels finds by \p search, and from \p chosen unless it decides alone.
PricedGridMapping walked(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster,
                         const PricedCluster& priced, const PricedGridMapping& chosen,
                         const polyhedral::MappingOptions& options, const ConstructionSearch& search) {
  auto starts = plain_kernels(scop, cluster, priced, options);
  if (!search.alone || starts.empty())
    starts.push_back(
        chosen.nest ? *chosen.nest
                    : polyhedral::without_idle_loops(priced.nests, polyhedral::nest_of(priced.nests, chosen.mapping)));
  const auto found = walk_kernels(priced, starts, {.policy = search.policy}, [&](const polyhedral::Nest& nest) {
    return polyhedral::is_realisable_kernel(scop, cluster, nest, *priced.target.grid);
  });
  return {chosen.mapping, found.kernel.price, found.kernel.nest};
}

}  // namespace

PricedGridMapping cheapest_grid_cluster(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster,
                                        const Target& target, const polyhedral::MappingOptions& options,
                                        const OperationsOfBodies& bodies,
                                        const std::optional<ConstructionSearch>& search) {
  auto rules = choose_grid_cluster(scop, cluster, *target.grid, options);
  PricedCluster priced(scop, cluster, target, bodies);
  const PricedGridMapping by_rules{rules, grid_price(priced, rules)};
  if (walks(search) && search->alone && !names_sizes(options))
    return walked(scop, cluster, priced, by_rules, options, *search);
  if (names_sizes(options) || !is_worth_it(scop, cluster)) return by_rules;
  auto best = by_rules;
  for (const auto& mapping : grid_candidates(scop, cluster, *target.grid, options))
    if (auto price = grid_price(priced, mapping); price.seconds < best.price.seconds) best = {mapping, price};
  best = with_fewer_blocks(priced, best);
  if (auto tile = cheapest_loop_tile(scop, cluster, priced)) {
    tile->mapping = rules;
    if (tile->price.seconds < best.price.seconds) best = *tile;
  }
  const auto& chosen = best.price.seconds < least_share * by_rules.price.seconds ? best : by_rules;
  if (!walks(search)) return chosen;
  const auto found = walked(scop, cluster, priced, chosen, options, *search);
  return found.price.seconds < least_share * chosen.price.seconds ? found : chosen;
}

std::vector<PricedGridMapping> cheapest_grid_candidates(const polyhedral::Scop& scop,
                                                        const polyhedral::ClusterView& cluster, const Target& target,
                                                        const polyhedral::MappingOptions& options,
                                                        const OperationsOfBodies& bodies, std::size_t count) {
  const PricedCluster priced(scop, cluster, target, bodies);
  std::vector<PricedGridMapping> result;
  for (const auto& mapping : grid_candidates(scop, cluster, *target.grid, options))
    if (auto price = grid_price(priced, mapping); std::isfinite(price.seconds)) result.push_back({mapping, price});
  std::sort(result.begin(), result.end(),
            [](const auto& a, const auto& b) { return a.price.seconds < b.price.seconds; });
  result.resize(std::min(result.size(), count));
  return result;
}

std::vector<PricedGridMapping> cheapest_grid_mapping(const polyhedral::ClusteredScop& clustered, const Target& target,
                                                     const polyhedral::MappingOptions& options,
                                                     const OperationsOfBodies& bodies,
                                                     const std::optional<ConstructionSearch>& search) {
  std::vector<PricedGridMapping> result;
  for (const auto& cluster : clustered.clusters)
    result.push_back(cheapest_grid_cluster(clustered.scop, cluster, target, options, bodies, search));
  return result;
}

}  // namespace tc::strategy
