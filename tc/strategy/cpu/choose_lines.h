#pragma once

#include "tc/strategy/cpu/cluster_facts.h"

namespace tc::strategy {

/// \p mapping with points along the members in which accesses of the heaviest statement are contiguous that are not
/// along its \p lanes, a cache line of them: every line is used whole while it is near. Without inner loops, squares of
/// them are transposed in registers.
///
///   C(i, j) = A(j, i)      before  points 1x16      after  register 16x16, where registers hold the square
polyhedral::ClusterMapping choose_lines(const ClusterFacts& facts, const VectorChoice& lanes,
                                        const polyhedral::ClusterMapping& mapping);

}  // namespace tc::strategy
