#pragma once

#include <optional>
#include <vector>

#include "tc/base/target.h"
#include "tc/polyhedral/core/options.h"
#include "tc/polyhedral/map/grid_mapping.h"
#include "tc/polyhedral/nest/nest.h"
#include "tc/polyhedral/schedule/gather_coincident.h"
#include "tc/strategy/construct/construct.h"
#include "tc/strategy/grid_price/grid_price.h"
#include "tc/strategy/price/priced_cluster.h"

namespace tc::strategy {

struct PricedGridMapping {
  polyhedral::GridClusterMapping mapping;
  GridPrice price;
  std::optional<polyhedral::Nest> nest =
      {};  ///< that takes the place of the mapping's, where mappings have no words for it
};

/// The mapping of \p cluster, which computes \p bodies, to a grid of \p target, and its price: of what rules choose
/// (choose_grid_mapping.h) and what else is possible (grid_candidates.h, tile_ordered_loop.h) that whose price (grid_price.h) is least. Rules keep clusters
/// of few instances, those for which \p options name sizes, and those that nothing else makes cheaper by a tenth. Nothing is
/// compiled or measured. With a \p search by BestFirst, Roller or Gensor, a walk among kernels (walk_kernels.h) begins there and
/// at plain kernels (plain_kernels.h), and what it finds is taken where it is cheaper by a tenth. A search that decides alone begins
/// at plain kernels only, and what it finds is taken.
PricedGridMapping cheapest_grid_cluster(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster,
                                        const Target& target, const polyhedral::MappingOptions& options,
                                        const OperationsOfBodies& bodies,
                                        const std::optional<ConstructionSearch>& search = {});

/// What is possible for \p cluster beside what rules choose, the cheapest first: at most \p count.
std::vector<PricedGridMapping> cheapest_grid_candidates(const polyhedral::Scop& scop,
                                                        const polyhedral::ClusterView& cluster, const Target& target,
                                                        const polyhedral::MappingOptions& options,
                                                        const OperationsOfBodies& bodies, std::size_t count);

/// The same of all clusters of \p clustered.
std::vector<PricedGridMapping> cheapest_grid_mapping(const polyhedral::ClusteredScop& clustered, const Target& target,
                                                     const polyhedral::MappingOptions& options,
                                                     const OperationsOfBodies& bodies,
                                                     const std::optional<ConstructionSearch>& search = {});

}  // namespace tc::strategy
