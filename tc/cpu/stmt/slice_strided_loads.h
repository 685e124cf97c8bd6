#pragma once

#include <Halide.h>

namespace tc::cpu {

/// Whole vectors whose lanes are 2 to 4 elements apart become contiguous vectors, from which the lanes are picked.
///
///   before  A[ramp(a, 3, 8)] * A[ramp(a + 1, 3, 8)]
///   after   with s = A[ramp(a, 1, 8)], A[ramp(a + 8, 1, 8)], A[ramp(a + 15, 1, 8)]
///           shuffle(s, 0, 3, 6 ... 22) * shuffle(s, 1, 4, 7 ... 23)
///
/// Loads of one buffer that run together share their vectors where they begin fewer elements apart than their lanes. The
/// last vector begins earlier than a multiple of its lanes, so that nothing before the first lane of all of them and
/// nothing behind the last is read: Halide's own way reads up to three elements beyond. Partial vectors stay, see
/// pick_lanes.h.
Halide::Internal::Stmt slice_strided_loads(const Halide::Internal::Stmt& body);

}  // namespace tc::cpu
