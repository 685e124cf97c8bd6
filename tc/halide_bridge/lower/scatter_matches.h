#pragma once

#include "tc/halide_bridge/lower/program.h"

namespace tc::halide_bridge {

/// \p program with sums over what equals an index written where the index says.
///
///   before  S1[e,d,b]: T(e,d) += if_then_else(I(b) == e, X(b,d), 0)
///   after   S1[d,b]:   T(if_then_else(0 <= I(b) && I(b) < E, I(b), 0), d) += if_then_else(0 <= I(b) && I(b) < E, X(b,d), 0)
///
/// Of updates that add, and whose value is a conditional with 0 as its other arm, where one of the conditions that must all
/// hold is the equality of a left-hand iterator and an index that tensors tell and this iterator does not. Instances in which the index is
/// outside of the iterator's range, or another condition does not hold, add 0 to the first element instead. Sums have the terms that they
/// had, but those that are 0; a sum that begins as -0 may end as 0. The iterator must have `least_matches` values: below, a sum that
/// stays in registers is as fast.
Program scatter_matches(const Program& program);

}  // namespace tc::halide_bridge
