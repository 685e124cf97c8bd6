#pragma once

#include <string>
#include <vector>

#include "tc/base/target.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/options.h"
#include "tc/polyhedral/map/grid_mapping.h"

namespace tc::strategy {

/// \p mapping with the members of the outer band of \p cluster spread over the threads of a block: member \p x over its
/// x, by vectors where all accesses allow them, and where that is too few threads the members before it, the innermost
/// first. Tiles are as large as the options say, else what the threads run at once.
///
///   O[i, j] = I[i, j] of 1000 x 20      member 1 tile 32 threads x run 4, member 0 tile 32 threads y, block 8x32
polyhedral::GridClusterMapping spread_members(polyhedral::GridClusterMapping mapping, const polyhedral::Scop& scop,
                                              const polyhedral::ClusterView& cluster, int x, const GridLimits& limits,
                                              const polyhedral::MappingOptions& options);

/// The tensors of which \p cluster accumulates, over loops of a statement's own, elements that one iteration of the outer
/// band has: what a thread keeps in registers.
std::vector<std::string> thread_accumulators(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster);

}  // namespace tc::strategy
