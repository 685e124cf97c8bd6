#pragma once

#include "tc/strategy/cpu/cluster_facts.h"

namespace tc::strategy {

/// \p mapping, for which choose_blocks() decided nothing, with the loop that threads share, where the work pays for
/// them: the first member that the user named, else the first with four iterations a core, else the one that keeps most
/// cores busy; in blocks that are enough work for a thread each.
///
///   before  points 1x16      after  parallel 0, blocks 16x0, points 1x16      4096 x 1024 instances
polyhedral::ClusterMapping choose_outermost(const ClusterFacts& facts, const polyhedral::ClusterMapping& mapping);

}  // namespace tc::strategy
