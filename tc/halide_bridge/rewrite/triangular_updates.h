#pragma once

#include "tc/halide_bridge/lower/program.h"

namespace tc::halide_bridge {

/// \p program with updates that change nothing unless iterators are in order, as updates of the instances where they are: loops over a
/// triangle instead of a square.
///
///   before  S1[i,c,j]:  O(i, c) += if_then_else(j <= i, P(i, j) * V(j, c), 0)
///   after   S1[i,c,j]:  O(i, c) += P(i, j) * V(j, c)       where j <= i
///
/// Of `smaller <= larger + c`, `larger` indexes the target, comes first, and is in no last subscript of a read: lanes of vectors seldom run
/// along it, which would then begin anywhere; both have `least_extent` values. Other conditions stay in the value, and a sum of -0 stays one where 0 would have been
/// added.
Program triangular_updates(const Program& program);

}  // namespace tc::halide_bridge
