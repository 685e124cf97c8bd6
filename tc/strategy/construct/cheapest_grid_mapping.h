#pragma once

#include "tc/base/target.h"
#include "tc/polyhedral/core/options.h"
#include "tc/polyhedral/map_grid/grid_mapping.h"
#include "tc/polyhedral/schedule/gather_coincident.h"
#include "tc/strategy/price/priced_cluster.h"

namespace tc::strategy {

/// The mapping of the clusters of \p clustered, which compute \p bodies, to a grid of \p target: of what rules choose
/// (choose_grid_mapping.h) and what else is possible (grid_candidates.h) that whose price (grid_price.h) is least. Rules keep clusters
/// of few instances, those for which \p options name sizes, and those that nothing else makes cheaper by a tenth. Nothing is
/// compiled or measured.
polyhedral::GridMapping cheapest_grid_mapping(const polyhedral::ClusteredScop& clustered, const Target& target,
                                              const polyhedral::MappingOptions& options,
                                              const OperationsOfBodies& bodies);

}  // namespace tc::strategy
