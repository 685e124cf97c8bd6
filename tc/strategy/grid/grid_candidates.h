#pragma once

#include <vector>

#include "tc/base/target.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/options.h"
#include "tc/polyhedral/map/grid_mapping.h"

namespace tc::strategy {

/// Ways to map \p cluster to a grid of a machine with \p limits among which a price may choose: products with each tile of a thread and
/// each block of the reduction; all else with threads along members or along rows, in blocks of several shapes, with vectors or
/// without, and rows of several to a block. \p options are obeyed as rules obey them. None has the same text as another.
///
///   S(n) +=! X(n, c)     block 256 along c; block 32x8: 8 rows along y; block 256 along n; ...
std::vector<polyhedral::GridClusterMapping> grid_candidates(const polyhedral::Scop& scop,
                                                            const polyhedral::ClusterView& cluster,
                                                            const GridLimits& limits,
                                                            const polyhedral::MappingOptions& options);

/// \p mapping with half as many blocks along the dimension of the grid that has most of them, each with twice the tiles.
polyhedral::GridClusterMapping with_half_the_blocks(polyhedral::GridClusterMapping mapping);

}  // namespace tc::strategy
