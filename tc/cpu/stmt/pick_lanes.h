#pragma once

#include <Halide.h>

#include "tc/base/target.h"

namespace tc::cpu {

/// Partial vectors whose lanes are 2 to 4 elements apart become contiguous ones, from which the lanes are picked. What
/// stays is computed lane by lane, behind a branch each.
///
///   before  A[ramp(a, 2, 8)] if ramp(0, 1, 8) <= x8(n)
///   after   shuffle of even lanes of  A[ramp(a, 1, 8)]     if ramp(0, 1, 8) <= x8(2n)
///                               and   A[ramp(a + 8, 1, 8)] if ramp(0, 1, 8) <= x8(2n - 8)
///
/// What lies between two lanes that run is read too, nothing beyond. Under another predicate than that of a partial vector
/// just the running lanes are. Loads stay where \p target has no masked ones of their type, and where a few lanes run,
/// their number known: these are fewer instructions.
Halide::Internal::Stmt pick_lanes(const Halide::Internal::Stmt& body, const Target& target);

}  // namespace tc::cpu
