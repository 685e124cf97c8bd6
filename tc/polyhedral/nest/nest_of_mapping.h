#pragma once

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/map/mapping.h"
#include "tc/polyhedral/nest/nest.h"

namespace tc::polyhedral {

/// The loops that \p mapping puts around the statements of \p cluster, as tile_cluster and vectorise make them. Loops of
/// one iteration are left out; a tile that is larger than its block counts as one of the block.
///
///   parallel 1, blocks 0x240, register 8x48, S1: i1 x16, pack read 1 of S1 in panels of 48 i1
///
///   n/240 on cores
///     copy W of S1 in panels of 48 n
///     m/8   n%240/48
///       S1: k   m%8 unrolled   n%48/16 unrolled   n%16 lanes
Nest nest_of(const Scop& scop, const ClusterView& cluster, const ClusterMapping& mapping);

}  // namespace tc::polyhedral
