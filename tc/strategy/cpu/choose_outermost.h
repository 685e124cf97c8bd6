#pragma once

#include "tc/strategy/cpu/cluster_facts.h"
#include "tc/strategy/price/cheapest.h"

namespace tc::strategy {

/// \p mapping, for which there are no block_candidates(), with the loop that threads share, where the work pays for
/// them: along a member that the user named, else along any, in four blocks a core, one a core, or one for each iteration: the
/// first of these that has some, or what \p seconds, the price of a mapping, says is cheaper by
/// 3 %.
///
///   before  points 1x16      after  parallel 0, blocks 512x0, points 1x16      4096 x 1024 instances, 2 cores
polyhedral::ClusterMapping choose_outermost(const ClusterFacts& facts, const polyhedral::ClusterMapping& mapping,
                                            const PriceOfMapping& seconds);

}  // namespace tc::strategy
