#pragma once

#include <vector>

#include "tc/polyhedral/schedule/clusters.h"

namespace tc::polyhedral {

/// \p units, loops of distribute_loops among them, where loops run as one again, from one that writes a temporary to the last that reads it.
/// The temporary then needs a few slots along the loop (buffer_slots.h) and stays in the caches:
///
///   {G} {H} {Y}  of  for t { G(t) = X(t)  H(t) = G(t) + H(t-1)  Y(t) = H(t) }      {G, H, Y}
///
/// This pays where \p criterion says that the temporary as a whole does not fit the caches; where the loops share members outside; and
/// where no statement would read more in each iteration, of data that all iterations share, than it writes and the reader reads back: a
/// product with one matrix for all t stays apart, because its tiles then go over t, too.
std::vector<Unit> join_loops(const Scop& scop, const StatementGraph& graph, const std::vector<Unit>& units,
                             const Free& free, std::size_t depth, const FusionCriterion& criterion);

}  // namespace tc::polyhedral
