#pragma once

#include <cstddef>
#include <vector>

#include "tc/strategy/price/nest_walk.h"
#include "tc/strategy/price/priced_cluster.h"
#include "tc/strategy/price/touched_lines.h"

namespace tc::strategy {

/// An access with the lines that it touches in each of its loops.
struct FarReference {
  std::size_t statement = 0;
  const PricedAccess* access = nullptr;
  double weight = 1;                           ///< 2: lines are also written back
  double moved = 1;                            ///< number of times that the touched lines are moved
  const polyhedral::NestCopy* copy = nullptr;  ///< it reads this copy
  bool reads_for_copy = false;                 ///< it is the copy's own read
  std::size_t place = 0;                       ///< of the copy: the first loop below it
  bool kept = false;                           ///< a buffer of one tile
  bool accumulated = false;                    ///< in registers while its statement's own loops run
  bool square = false;                         ///< a tile reads each of its rows once and transposes them
  std::vector<TouchedLines> touched;           ///< from loop number i on; the last: by one vector
  TouchedLines under_way;                      ///< by the outstanding accesses of a core
};

/// The accesses of \p cluster in the nest of \p walk and of its copies. Accesses that repeat an earlier one of the same
/// statement are omitted.
///
///   O += A B, B in panels      write O, read A, read B for the copy, read the copy
///
/// \p core_cycles are the cycles of a core for each statement, \p buffer_bytes the size of a tile's buffers.
std::vector<FarReference> far_references(const PricedCluster& cluster, const NestWalk& walk,
                                         const std::vector<double>& core_cycles, double buffer_bytes);

/// The number of iterations of loop number \p loop of \p nest that execute \p reference: registers keep its value
/// along independent points, and accumulators during the loops of a reduction.
double trips_of(const FarReference& reference, const StatementWalk& nest, std::size_t loop);

}  // namespace tc::strategy
