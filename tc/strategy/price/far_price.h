#pragma once

#include <array>
#include <vector>

#include "tc/strategy/price/nest_walk.h"
#include "tc/strategy/price/priced_cluster.h"

namespace tc::strategy {

/// Traffic with a level of memory: bytes in both directions, contiguous runs of cache lines, and lines that conflict
/// with others of their cache set.
struct FarBytes {
  double bytes = 0, runs = 0;
  double colliding = 0, written_colliding = 0;
  double walks = 0;       ///< runs that begin in a page without a TLB entry
  double unforeseen = 0;  ///< lines from memory that arrive before the prefetcher recognises their run

  FarBytes& operator+=(const FarBytes& other);
  FarBytes& operator-=(const FarBytes& other);
  FarBytes& operator*=(double times);
};

/// Traffic from the second cache, the third cache, and memory.
using FarLevels = std::array<FarBytes, 3>;
struct FarTraffic {
  FarLevels all;
  FarLevels copied;  ///< the part of it that packed copies read
};

/// Traffic from the second cache, the third cache, and memory in one run of \p cluster, with the caches as the
/// previous run left them, in the nest of \p walk. \p core_cycles are the core's cycles for each statement.
///
/// Caches are LRU. Let d be the smallest number such that all data touched by one execution of the loops from number
/// d on fits. Then each tensor is read once for each execution of loop d - 1, because the iterations of that loop
/// reuse shared data:
///
///   trips(loops above d - 1) * bytes touched(from loop d - 1 on)        nothing where d is 0
///
/// Lines that fit by their bytes may still be evicted by set conflicts: if an iteration of a loop touches L lines of
/// a set with W ways, a line that the next iteration touches has been evicted with a probability of 1 - W / L.
///
/// Data that does not depend on the parallel loop is read into the private caches of each core.
///
/// By Little's law, the number of outstanding stores of whole lines is the latency of a line divided by the time
/// between two stores, which is core_cycles over the stores of a statement. Other accesses fill the queues of a core.
///
/// A run continues where it ended as long as its prefetched lines stay in the cache, that is unless set conflicts
/// evict them.
///
/// If not even one tile of the cluster fits, each statement is considered alone in its loops. Written lines are read
/// and written back. Temporaries of a tile occupy space but cause no traffic. Packed copies are tensors of their own,
/// made once for each iteration of the loops above them, and each time they read their source.
FarTraffic far_bytes(const PricedCluster& cluster, const NestWalk& walk, const std::vector<double>& core_cycles,
                     double buffer_bytes);

}  // namespace tc::strategy
