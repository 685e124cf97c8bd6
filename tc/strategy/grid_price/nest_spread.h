#pragma once

#include "tc/polyhedral/nest/nest.h"
#include "tc/strategy/grid_price/thread_spread.h"

namespace tc::strategy {

/// The grid and the block of the kernel whose loops are \p nest: those of kernel_shape() of its mapping.
KernelShape kernel_shape(const PricedCluster& cluster, const polyhedral::Nest& nest);

/// How statement number \p index of \p cluster runs in \p nest: what thread_spread() says of its mapping, where iterators that have
/// one value for the threads of a block count as not spread.
///
///   m/64 on grid.y   S1: k/16 with copies  k%16  m%64/4 on thread.y  m%4        m: tile 64, dimension 1, run 4; k: cut 16
ThreadSpread thread_spread(const PricedCluster& cluster, const polyhedral::Nest& nest, int index);

}  // namespace tc::strategy
