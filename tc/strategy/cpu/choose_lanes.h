#pragma once

#include "tc/strategy/cpu/cluster_facts.h"

namespace tc::strategy {

/// \p mapping, whose points are chosen for \p tile lanes of the heaviest statement, with lanes for each statement: these, along a loop
/// of its own, or, in a register tile, along another tiled member. A statement that multiplies matrices has none. Copies that
/// passes add have the lanes of the statements; where these run along no member, in a register tile those of the
/// heaviest statement's result.
///
///   before  register 8x48      after  register 8x48, S0: i1 x16, S1: i1 x16, copies along 1 x16
polyhedral::ClusterMapping choose_lanes(const ClusterFacts& facts, const VectorChoice& tile,
                                        const polyhedral::ClusterMapping& mapping);

}  // namespace tc::strategy
