#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "tc/polyhedral/map_grid/map_to_grid.h"
#include "tc/polyhedral/map_grid/promote_in_block.h"
#include "tc/polyhedral/spread/grid_cluster_state.h"
#include "tc/polyhedral/spread/grid_tree.h"

namespace tc::polyhedral {

/// A kernel on its way through the passes that realise a nest on a grid (grid_passes()).
struct GridCluster {
  /// Of \p part, one of kernel_parts, whose nests have the space \p space.
  GridCluster(const Scop& part, NestSpace space, Nest nest, std::int64_t warp_size)
      : scop(part),
        state(std::move(space), std::move(nest), warp_size),
        memory{state.nest.launch->shared_bytes, state.nest.launch->thread_elements} {}

  Scop scop;  ///< of kernel_parts
  GridClusterState state;
  std::optional<GridTree> tree;  ///< grid_tree
  BlockMemory memory;            ///< what promote_in_block has left

  /// The kernel, after the pass as_kernel; behind the last pass its threads wait for each other.
  GridKernel kernel() const;
};

/// What holds of a kernel behind a pass.
enum class GridLaws {
  Statements,      ///< a program like any other: each instance runs once, dependences go forward, accesses stay inside
  Threads,         ///< with the nodes of a kernel (as_kernel) it is one whose threads do not wait for each other yet
  Unsynchronised,  ///< it is (verify_unsynchronised_kernel)
  Kernel           ///< all laws of kernels (verify_kernel)
};

/// One pass that realises a nest on a grid.
struct GridPass {
  const char* name;
  void (*run)(GridCluster& cluster);
  GridLaws laws;
};

/// The passes that make a kernel of a cluster, in order; each is described in the header of its name.
///
///   fill_rows          the last tile of rows of an ordered loop is filled up, so that all threads run alike
///   reduce_in_block    reductions along x accumulate in each thread, then in warps
///   repeat_in_lanes    what threads along x would hand to each other, each of them computes
///   stage_tensor       accumulators are temporaries, copied out
///   copy_reads         copies of what a block reads, block by block of a reduction
///   grid_tree          loops are spread over blocks and threads
///   hold_in_registers  what copies that run ahead have read waits in registers
///   promote_in_block   temporaries are registers or shared memory
///   as_kernel          the kernel's own nodes; iterations that only copy have code of their own (pipeline_copies.h)
///   insert_barriers    threads wait for each other, and for asynchronous copies
const std::vector<GridPass>& grid_passes();

}  // namespace tc::polyhedral
