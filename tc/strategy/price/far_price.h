#pragma once

#include <array>
#include <vector>

#include "tc/polyhedral/map/mapping.h"
#include "tc/strategy/price/priced_cluster.h"
#include "tc/strategy/price/statement_nest.h"

namespace tc::strategy {

/// Bytes that come from a level of memory and go back there, the runs of lines they lie in, and lines that wait for others of their set of the cache.
struct FarBytes {
  double bytes = 0, runs = 0;
  double colliding = 0, written_colliding = 0;
  double walks = 0;       ///< runs that begin in a page whose address the core does not remember
  double unforeseen = 0;  ///< of the lines from memory, those that come before a core foresees how their runs go on

  FarBytes& operator+=(const FarBytes& other);
  FarBytes& operator-=(const FarBytes& other);
  FarBytes& operator*=(double times);
};

/// What comes from the second cache, the third, and memory.
using FarLevels = std::array<FarBytes, 3>;
struct FarTraffic {
  FarLevels all;
  FarLevels copied;  ///< of all, what packed copies read
};

/// What comes from the second cache, the third, and memory in one run of \p cluster that finds in each cache what the run
/// before left there; \p nests are those of its statements, \p core_cycles what a core takes for each.
///
/// A cache keeps what was used last. Where all that one execution of the loops from number d on touches fits, d the least,
/// each tensor comes in once for each execution of loop d - 1, whose iterations find there what they share:
///
///   trips(loops above d - 1) * bytes touched(from loop d - 1 on)        nothing where d is 0
///
/// Of lines that fit by their bytes, those stay that their sets have room for: where an iteration of a loop touches L
/// lines of a set of W ways, a line that the next iteration touches is gone with a probability of 1 - W / L.
///
/// What the loop that threads share leaves the same, and what so comes once, comes into the own caches of each core.
///
/// How many stores of whole lines wait at once, by Little's law, is what a line takes to come over the time from one store
/// to the next, core_cycles over the stores of a statement; other accesses fill the queues of a core.
///
/// A run goes on where it ended as long as prefetched lines wait for that: not where their sets have no room until then.
///
/// Where not even one tile of the cluster fits, each statement is on its own in its loops. What is written comes in and goes
/// back. Temporaries of a tile take room, and nothing more. Packed copies are tensors of their own, made in as many runs
/// as loops stand above them, of which each reads what it copies.
FarTraffic far_bytes(const PricedCluster& cluster, const polyhedral::ClusterMapping& mapping,
                     const std::vector<StatementNest>& nests, const std::vector<double>& core_cycles,
                     double buffer_bytes);

}  // namespace tc::strategy
