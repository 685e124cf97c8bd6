#pragma once

#include <cstdint>
#include <utility>

#include "tc/base/target.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/options.h"

namespace tc::strategy {

/// How well neighbouring threads along \p iterator of the statement \p entry share what they touch: accesses that move
/// by one element, less half of those that move further. A result is written once. 0 without an iterator.
///
///   C[i, j] = A[i, j] + B[i] of 8 x 64      along j: 2 x 512, of C and A      along i: -3 x 256
double thread_gain(const polyhedral::Scop& scop, const polyhedral::ClusterStatement& entry, int iterator);

/// The member of the outer band of \p cluster that suits threads best, of several the innermost, and its gain over all
/// statements; -1 where none has several iterations.
std::pair<int, double> best_member(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster);

/// The iterator of the inner loop of \p entry that suits threads best, \p but aside; -1 for none. A reduction does
/// where a block may reduce, options.batch_invariant lets threads share its sums, and \p but is none.
int best_inner(const polyhedral::Scop& scop, const polyhedral::ClusterStatement& entry,
               const polyhedral::MappingOptions& options, int but = -1);

/// Do the loops below the outer band of \p cluster suit threads better than its members, whose best one gains \p
/// outer_gain, or do these leave multiprocessors idle?
bool rows_belong_together(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster, double outer_gain,
                          const GridLimits& limits, const polyhedral::MappingOptions& options);

/// Iterations of \p iterator of the statement \p entry.
std::int64_t extent_of(const polyhedral::Scop& scop, const polyhedral::ClusterStatement& entry, int iterator);

}  // namespace tc::strategy
