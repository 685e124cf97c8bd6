#pragma once

#include <functional>
#include <vector>

#include "tc/polyhedral/nest/nest.h"
#include "tc/polyhedral/nest/nest_space.h"
#include "tc/strategy/grid_price/grid_price.h"

namespace tc::strategy {

/// The nests one move from \p nest, of a kernel, in \p space:
///
///   tile     m/64 on grid.y ... m%64/4 on thread.y     m/128 on grid.y ... m%128/64  m%64/4 on thread.y      twice or half the tile
///            ... or m%128/4 on thread.y with twice the threads, or m%128/8 on thread.y  m%8 with twice the run
///   threads  blocks of 16x16, m%64/4 on thread.y       blocks of 16x8, m%64/32  m%32/4 on thread.y           along one dimension
///   spread   m on grid.x                               m/2 on grid.x  m%2 on thread.y                        where no loop is along y
///   lanes    n%16/4 on thread.x  n%4                   n%16/4 on thread.x  n%4 lanes                             of the innermost runs
///   run      m%64/4 on thread.y  m%4                   m%64/32  m%32/2 on thread.y  m%2                      of one thread
///   steps    k/16 with copies                          k/32 with copies
///   slots    k/16 with copies in 2 slots               k/16 with copies in 3 slots
///
/// Full tiles have code of their own where some are partial. Rounds of threads are counted as tiles, threads and runs ask for.
/// Indices with warps, and statements with units, keep theirs. A program or a target may forbid a nest (check_kernel_nest.h).
std::vector<polyhedral::Nest> kernels_beside(const polyhedral::NestSpace& space, const polyhedral::Nest& nest);

struct PricedKernel {
  polyhedral::Nest nest;
  GridPrice price;
};

/// The nest that a descent from \p nest by moves ends at: the cheapest move that \p is_allowed while it is at least
/// `least_difference` cheaper.
PricedKernel descend_kernel(const PricedCluster& cluster, polyhedral::Nest nest,
                            const std::function<bool(const polyhedral::Nest&)>& is_allowed);

}  // namespace tc::strategy
