#pragma once

#include <array>
#include <vector>

#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/map/grid_mapping.h"
#include "tc/polyhedral/nest/nest.h"
#include "tc/polyhedral/nest/nest_space.h"
#include "tc/polyhedral/schedule/gather_coincident.h"
#include "tc/polyhedral/spread/thread_map.h"

namespace tc::polyhedral {

/// A part of a program that a grid of blocks of threads runs. Each thread runs the instances that the filters of the
/// schedule leave for its coordinates, the parameters block_x ... thread_z, in the order of the schedule; the context
/// node bounds them.
struct GridKernel {
  Scop scop;  ///< its statements only
  Coordinates where;
  std::array<std::int64_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  std::int64_t warp_size = 1;         ///< consecutive threads of a block that run in lock step
  std::int64_t shared_bytes = 0;      ///< of the buffers that the threads of a block share
  int blocks_per_multiprocessor = 0;  ///< for which the registers of a multiprocessor are to suffice; 0: no wish
};

/// Are \p a and \p b copies of one value, as are_copies.h says?
bool are_copies(const GridKernel& a, const GridKernel& b);

/// \p clustered as kernels to be run one after the other, one a cluster, mapped as \p mapping
/// (strategy::choose_grid_mapping) says, by grid_passes.h, for a machine with warps of \p warp_size threads.
///
///   before  band [i, j] (coincident 1 1) { S0 } { S1: band [k] }
///   after   context { 0 <= block_x < 32, ... }  kernel  filter { floor(i/8) = block_y, floor(j/32) = block_x }
///           band [i/8, j/32] { thread  filter { i mod 8 = thread_y, j mod 32 = thread_x }  band [i%8, j%32]: S0 }
///                            { thread  filter { the same }  band [i%8, j%32]  band [k]: S1 }
///
/// Tiles go to blocks, their points to threads, cyclically where there are more of them; the points stand at the
/// statements, below the loops that all threads of a block run together. A statement that does not use a dimension of
/// the block runs in its thread 0. Barriers (insert_barriers) separate threads that use each other's values. A cluster
/// without coincident outer members runs in one block. The grid shrinks to what is used, and so does the block of a mapping
/// (nest_of_mapping.h); that of a nest stays.
std::vector<GridKernel> map_to_grid(const ClusteredScop& clustered, const GridMapping& mapping, std::int64_t warp_size);

/// The same in two steps: the clusters of \p clustered, each a scop of its own, and the kernel of one.
std::vector<Scop> kernel_parts(const ClusteredScop& clustered);
GridKernel map_kernel(const Scop& part, const NestSpace& space, const Nest& nest, std::int64_t warp_size);
GridKernel map_kernel(const Scop& part, const GridClusterMapping& mapping, std::int64_t warp_size);

}  // namespace tc::polyhedral
