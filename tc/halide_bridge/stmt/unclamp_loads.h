#pragma once

#include <Halide.h>

namespace tc::halide_bridge {

/// Vectors of elements at clamped indices become contiguous vectors where no lane is clamped, as in windows that repeat the borders
/// of an image:
///
///   before  A[select(ramp(a, 1, 8) == x8(0), x8(3), ramp(a + b, 1, 8))]
///   after   if_then_else(a <= 0 && 0 <= a + 7, A[select(...)], A[ramp(a + b, 1, 8)])
///
/// Of loads whose index is a contiguous vector but for selects, minima and maxima that give another value to some lanes; these
/// compare a vector with a number. The condition covers all lanes that may have the other value.
Halide::Internal::Stmt unclamp_loads(const Halide::Internal::Stmt& body);

}  // namespace tc::halide_bridge
