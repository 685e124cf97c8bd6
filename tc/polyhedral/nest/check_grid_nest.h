#pragma once

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/nest/nest.h"
#include "tc/polyhedral/nest/nest_names.h"

namespace tc::polyhedral {

/// The laws of the places in the nest of a kernel. Throws as check_nest() does.
///
///   machine    loops run one after the other, unrolled, in lanes, on the grid or on threads
///   grid       only loops of the trunk are on it, one along each dimension; the others of the trunk are serial
///   threads    a branch has one loop along each dimension, with at most as many values as the block has threads there, or
///              loops on all threads; what a thread takes of neighbouring values is below them; members go to threads alike
///              in all branches
///   lanes      a branch has one loop in lanes, its innermost
///   copies     copies are asynchronous where the loop over blocks of the reduction has several slots
void check_grid_places(const Scop& scop, const ClusterView& cluster, const NestNames& names, const Nest& nest);

}  // namespace tc::polyhedral
