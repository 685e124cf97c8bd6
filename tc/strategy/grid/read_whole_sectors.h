#pragma once

#include "tc/base/target.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/map/grid_mapping.h"

namespace tc::strategy {

/// \p mapping of \p cluster, in which tiles and copies are chosen, with copies that read whole sectors of memory at
/// once: where threads along which a copy is contiguous have vectors of other rows of the tensor, vectors of one
/// row go to neighbouring threads: as many as a sector holds, where that leaves whole rounds of all threads, else all
/// that a block has of it. So the number of a thread is simple to take apart, and loads stay vectors in what isl prints.
///
///   before  copy read 0 of U along i0 vector 4             A[m, k] of floats, 16 bytes of each of 32 rows at once
///   after   copy read 0 of U along i0 vector 4 beside 2    32 bytes of each of 16 rows, where a block has 128
///           copy read 0 of U along i0 vector 4 beside 4    64 bytes of each of 8 rows, where it has 64 of 16 k each
polyhedral::GridClusterMapping read_whole_sectors(polyhedral::GridClusterMapping mapping, const polyhedral::Scop& scop,
                                                  const polyhedral::ClusterView& cluster, const GridLimits& limits);

}  // namespace tc::strategy
