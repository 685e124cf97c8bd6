#pragma once

#include "tc/halide_bridge/lower/program.h"

namespace tc::halide_bridge {

/// \p program with reductions over what equals an index written, or read, where the index says.
///
///   before  S1[e,d,b]: T(e,d) += if_then_else(I(b) == e, X(b,d), 0)
///   after   S1[d,b]:   T(if_then_else(0 <= I(b) && I(b) < E, I(b), 0), d) += if_then_else(0 <= I(b) && I(b) < E, X(b,d), 0)
///
///   before  S1[b,d,e]: O(b,d) += if_then_else(I(b) == e, T(e,d), 0)
///   after   S1[b,d]:   O(b,d) += if_then_else(0 <= I(b) && I(b) < E, T(I(b),d), 0)
///
/// Of updates whose value is a conditional with the operator's identity as its other arm, where one of the conditions that
/// must all hold is the equality of an iterator and an index that this iterator does not tell, but tensors or reduction
/// iterators do. Instances in which the index is outside of the iterator's range, or another condition does not hold, join
/// the identity to the first element instead. Reductions have the terms that they had, but identities; a sum that begins
/// as -0 may end as 0. The iterator must have `least_matches` values: below, a sum that stays in registers is as fast.
Program scatter_matches(const Program& program);

}  // namespace tc::halide_bridge
