#pragma once

#include <cstddef>
#include <vector>

#include "tc/polyhedral/map/mapping.h"
#include "tc/strategy/price/priced_cluster.h"
#include "tc/strategy/price/statement_nest.h"
#include "tc/strategy/price/touched_lines.h"

namespace tc::strategy {

/// An access with all it touches from each of its loops on.
struct FarReference {
  std::size_t statement = 0;
  const PricedAccess* access = nullptr;
  double weight = 1;                              ///< 2: what comes in goes back
  double moved = 1;                               ///< how often what is touched comes or goes
  const polyhedral::PackMapping* pack = nullptr;  ///< it goes to this copy
  bool reads_for_copy = false;                    ///< it is the copy's own read
  std::size_t place = 0;                          ///< of the copy: the first loop below it
  bool kept = false;                              ///< a buffer of one tile
  bool accumulated = false;                       ///< in registers while its statement's own loops run
  bool square = false;                            ///< a tile reads its rows, each once, and transposes them
  std::vector<TouchedLines> touched;              ///< from loop number i on; the last: by one vector
  TouchedLines under_way;                         ///< by the accesses that a core has under way at once
};

/// The accesses of \p cluster in \p mapping, and those of its copies. What a later one of a statement only repeats is left out.
///
///   O += A B, B in panels      write O, read A, read B for the copy, read the copy
///
/// \p nests are the loops of the statements, \p core_cycles what a core takes for each, \p buffer_bytes those of a tile's buffers.
std::vector<FarReference> far_references(const PricedCluster& cluster, const polyhedral::ClusterMapping& mapping,
                                         const std::vector<StatementNest>& nests,
                                         const std::vector<double>& core_cycles, double buffer_bytes);

/// How often \p reference runs loop number \p loop of \p nest: registers keep it along points on which it does not depend, and
/// accumulators while the loops of a reduction run.
double trips_of(const FarReference& reference, const StatementNest& nest, std::size_t loop);

}  // namespace tc::strategy
