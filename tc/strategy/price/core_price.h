#pragma once

#include "tc/strategy/price/nest_walk.h"
#include "tc/strategy/price/price.h"

namespace tc::strategy {

/// Instructions of one iteration of a loop beside its body: a step, a test with its branch.
inline constexpr double loop_instructions = 2;

/// The cycles of all instances of statement number \p index of \p cluster in the nest of \p walk, with all data in the first
/// cache.
///
///   operations   vectors of points, once for each step of the loops around them
///   loads        of a register tile one for all points along which an operand stays the same, and for the points of a
///                window that read it too; of loops over points one each; a broadcast is one, vectors that cross lines up to
///                two, vectors across lanes as many as lanes, or transposed in registers
///   accumulators live in registers where a tile of them has room, or the innermost loop is the reduction's; else each
///                step loads and stores them
CorePrice core_price(const PricedCluster& cluster, const NestWalk& walk, int index);

}  // namespace tc::strategy
