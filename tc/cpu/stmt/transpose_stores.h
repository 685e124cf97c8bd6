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
/// A block is a power of two of stores in a row to successive elements, at most as many as a vector has lanes; of five or more,
/// others are one under a mask, where elements have 32 bits. So each line of memory is written by one store, where a store of lanes that
/// lie far apart, in lines that share a set of the first cache, would find it driven out by its own lanes.
/// The values must not read the buffer that is stored; buffers that the statement allocates stay as they are, since
/// they may be registers.
Halide::Internal::Stmt transpose_stores(const Halide::Internal::Stmt& stmt);

}  // namespace tc::cpu
