#pragma once

#include <cstdint>
#include <vector>

#include "tc/strategy/grid_price/thread_spread.h"

namespace tc::strategy {

/// What one block does with one tensor in memory, in sectors (GridLimits::sector_bytes).
struct TensorSectors {
  double read = 0, written = 0;  ///< what the accesses of warps take one by one
  double once = 0;               ///< of different ones
  std::vector<int> grid;         ///< dimensions of the grid along which blocks touch others
};

/// What a thread asks memory for in one statement, not by way of copies.
struct ThreadReads {
  struct Tensor {
    int number = -1;   ///< among PricedCluster::tensors
    double words = 0;  ///< of four bytes, all in all
  };
  std::vector<Tensor> tensors;
  double rounds = 1;  ///< one after the other: tiles of a block, and sums behind which threads wait for each other
};

/// What one block of a kernel does.
struct BlockCounts {
  double instructions = 0;    ///< of warps
  double operations = 0;      ///< of lanes: additions and multiplications
  double functions = 0;       ///< of lanes
  double products = 0;        ///< multiply-adds of units for matrices
  double group_products = 0;  ///< of units of groups of warps
  double shared_rounds = 0;   ///< of the banks of shared memory, with conflicts of copies
  double cache_rounds = 0;    ///< of the first cache, which gives a line in each, for accesses to memory
  double torn_share = 0;      ///< of blocks whose tiles of accumulators are not whole
  double torn_times = 1;      ///< that such a block takes as long, for its conditions
  double barriers = 0;
  double copies = 0;     ///< rounds of copies, between two of which threads compute
  double chain = 0;      ///< operations of one thread that wait for each other
  double exchanges = 0;  ///< values that threads hand on to each other, one after the other
  double registers = 0;  ///< of one thread
  std::int64_t shared_bytes = 0;
  std::vector<TensorSectors> tensors;  ///< as PricedCluster::tensors
  std::vector<ThreadReads> waits;      ///< of each statement

  double sectors_read() const;
  double sectors_written() const;
};

/// How many parts of a copy the kernel of \p nest has in memory at once.
int slots_of_copies(const polyhedral::Nest& nest);

/// What a block that is full does in the kernel of \p cluster whose loops are \p nest. Nothing is carried out; isl is not asked.
///
/// The addresses of each access are those of the threads of each warp in its first round, one by one. An element is
/// asked for once where loops that do not move it stand inside the others; accumulators, and what is staged or promoted,
/// are kept by threads; a copy reads the box of a tile. Banks are counted for each copy in the layout
/// that is chosen behind the mapping (copy_conflicts.h); of temporaries as if no two words were in one bank.
BlockCounts block_counts(const PricedCluster& cluster, const polyhedral::Nest& nest, const KernelShape& shape);

}  // namespace tc::strategy
