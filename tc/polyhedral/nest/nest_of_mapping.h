#pragma once

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/map/grid_mapping.h"
#include "tc/polyhedral/map/mapping.h"
#include "tc/polyhedral/nest/nest.h"
#include "tc/polyhedral/nest/nest_space.h"

namespace tc::polyhedral {

/// The loops that \p mapping puts around the statements of a cluster, as tile_cluster and vectorise make them. Loops of
/// one iteration are left out; a tile that is larger than its block counts as one of the block.
///
///   parallel 1, blocks 0x240, register 8x48, S1: i1 x16, pack read 1 of S1 in panels of 48 i1
///
///   n/240 on cores
///     copy W of S1 in panels of 48 n
///     m/8   n%240/48
///       S1: k   m%8 unrolled   n%48/16 unrolled   n%16 lanes
Nest nest_of(const NestSpace& space, const ClusterMapping& mapping);
Nest nest_of(const Scop& scop, const ClusterView& cluster, const ClusterMapping& mapping);

/// The loops of the kernel of a cluster, mapped to a grid as \p mapping says, as grid_passes() make them. The block has the
/// threads that are used; fields of the mapping that have no effect leave no trace. What passes alone know is not in it:
/// loops of statements whose threads use each other's values stand above their threads.
///
///   grid 16x16, block 16x16, member 0 tile 64 blocks y threads y run 4, member 1 tile 64 blocks x threads x run 4,
///   S1: i2 in blocks of 16, copy read 0 of S1 along i0, others: tile vector unroll, stage C, shared bytes 49152
///
///   blocks of 16x16 threads, shared bytes 49152
///   m/64 on grid.y
///     n/64 on grid.x
///       copy A of S1 to shared memory along m
///       keep C
///       added statements points innermost, unrolled, in lanes
///       S1: k/16 with copies  k%16 unrolled  m%64/4 on thread.y  n%64/4 on thread.x  m%4 unrolled  n%4 lanes
///
/// \p space is that of kernels.
Nest nest_of(const NestSpace& space, const GridClusterMapping& mapping);
Nest nest_of(const Scop& scop, const ClusterView& cluster, const GridClusterMapping& mapping);

}  // namespace tc::polyhedral
