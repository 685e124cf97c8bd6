#pragma once

#include <string>

#include "tc/polyhedral/map/grid_mapping.h"
#include "tc/strategy/grid_price/block_counts.h"
#include "tc/strategy/grid_price/grid_rates.h"

namespace tc::strategy {

/// What a kernel may take, term by term. Cycles are those of the multiprocessor that has the most blocks.
struct GridPrice {
  KernelShape shape;
  BlockCounts counts;       ///< of one block
  double resident = 1;      ///< blocks that a multiprocessor runs at once
  double occupancy = 0;     ///< warps of these over those that there may be
  double waves = 1;         ///< rounds of resident blocks until all have run
  double instructions = 0;  ///< cycles of warps' instructions, of lanes' additions and multiplications, of functions
  double operations = 0, functions = 0;
  double units = 0;    ///< cycles of the units for matrices
  double rounds = 0;   ///< cycles of the first cache and of the banks of shared memory
  double l2 = 0;       ///< cycles of the bytes that come from the second cache
  double latency = 0;  ///< cycles of what a thread waits for and nothing else of its multiprocessor hides
  double starts = 0;   ///< cycles in which the machine begins all blocks, one after the other
  double memory = 0;   ///< seconds of the bytes that come from memory, or go there
  double l2_bytes = 0, memory_bytes = 0;  ///< that all blocks ask the second cache for, and it asks memory for
  double sector_share = 1;                ///< bytes that are asked for once, over those of all sectors that are moved
  double hertz = 1;
  double seconds = 0;  ///< with the launch
};

/// What \p cluster may take as a kernel of its target with the loops of \p nest. Nothing is carried out, compiled or
/// measured, and isl is not asked: microseconds.
///
///   seconds = launch + max(memory, largest of the cycles / hertz) + a share of the others
///   cycles   of all blocks of the busiest multiprocessor: ceil(blocks / multiprocessors) of them
///   latency  of one block after the other where a multiprocessor has room for few: `waves` times what one waits
GridPrice grid_price(const PricedCluster& cluster, const polyhedral::Nest& nest);
/// The price of the nest of \p mapping.
GridPrice grid_price(const PricedCluster& cluster, const polyhedral::GridClusterMapping& mapping);

/// One line: the time and each term of it, in microseconds.
std::string to_string(const GridPrice& price);

}  // namespace tc::strategy
