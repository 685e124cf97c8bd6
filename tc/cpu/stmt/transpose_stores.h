#pragma once

#include <Halide.h>

namespace tc::cpu {

/// Replaces blocks of strided vector stores by contiguous ones of vectors that are transposed in registers.
///
///   before  A[ramp(a, 100, 4)] = v0         after  let t0, t1, t2, t3 = transpose(v0, v1, v2, v3)
///           A[ramp(a + 1, 100, 4)] = v1            A[ramp(a, 1, 4)] = t0
///           A[ramp(a + 2, 100, 4)] = v2            A[ramp(a + 100, 1, 4)] = t1
///           A[ramp(a + 3, 100, 4)] = v3            A[ramp(a + 200, 1, 4)] = t2 ...
///
/// A block is as many stores in a row to successive elements as a vector has lanes, a power of two; of eight lanes or
/// more, more than half as many suffice, and only that many lanes are stored. The values must not read the buffer that
/// is stored; buffers that the statement allocates stay as they are, since they may be registers.
Halide::Internal::Stmt transpose_stores(const Halide::Internal::Stmt& stmt);

}  // namespace tc::cpu
