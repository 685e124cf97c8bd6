#pragma once

#include <Halide.h>

namespace tc::cpu {

/// Replaces square blocks of strided vector loads by contiguous ones that are transposed in registers.
///
///   before  B[ramp(b, 1, 4)] = A[ramp(a, 100, 4)]        after  let r0 = A[ramp(a, 1, 4)], ... r3 = A[ramp(a + 300, 1, 4)]
///           B[ramp(c, 1, 4)] = A[ramp(a + 1, 100, 4)]           let t0, t1, t2, t3 = transpose(r0, r1, r2, r3)
///           B[ramp(d, 1, 4)] = A[ramp(a + 2, 100, 4)]           B[ramp(b, 1, 4)] = t0
///           B[ramp(e, 1, 4)] = A[ramp(a + 3, 100, 4)]           B[ramp(c, 1, 4)] = t1 ...
///
/// A block is as many stores in a row as a vector has lanes, a power of two, whose loads at one place of their values
/// start at successive elements. The stores must not write the buffer that is loaded. Where only the first lanes run, a
/// known number of them, the other rows are not loaded; loads with another predicate stay.
Halide::Internal::Stmt transpose_loads(const Halide::Internal::Stmt& stmt);

}  // namespace tc::cpu
