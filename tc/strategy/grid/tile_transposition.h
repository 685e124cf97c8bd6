#pragma once

#include <optional>

#include "tc/base/target.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/options.h"
#include "tc/polyhedral/map/grid_mapping.h"

namespace tc::strategy {

/// \p mapping, which says what memory there is, with tiles and threads of a cluster whose one statement reads along one
/// member and writes along another: square tiles go by way of shared memory, where vectors are read along one and
/// written along the other. Nothing for other clusters, for short members, and where the options choose tiles or
/// blocks, or forbid shared memory.
///
///   B[j, i] = A[i, j]      tile 64x64, block 8x32, copy of A along i: threads read 4 along i, write 4 along j
std::optional<polyhedral::GridClusterMapping> tile_transposition(polyhedral::GridClusterMapping mapping,
                                                                 const polyhedral::Scop& scop,
                                                                 const polyhedral::ClusterView& cluster,
                                                                 const GridLimits& limits,
                                                                 const polyhedral::MappingOptions& options);

}  // namespace tc::strategy
