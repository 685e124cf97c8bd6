#pragma once

#include "tc/base/target.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/options.h"
#include "tc/polyhedral/map/grid_mapping.h"

namespace tc::strategy {

/// \p mapping with loops of each statement's own spread over the threads of a block: the one that suits threads best
/// over x, by vectors where those of all statements are full, another over y where x is short. Where a reduction is
/// spread, whole warps run it.
///
///   C[i] += A[i, k] of 1000 x 4096      block 256, U: i1 threads x run 4, vector
polyhedral::GridClusterMapping spread_rows(polyhedral::GridClusterMapping mapping, const polyhedral::Scop& scop,
                                           const polyhedral::ClusterView& cluster, const GridLimits& limits,
                                           const polyhedral::MappingOptions& options);

}  // namespace tc::strategy
