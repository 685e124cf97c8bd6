#pragma once

#include "tc/base/dtype.h"
#include "test/cuda_emulator/sample_kernels.h"

namespace tc::emulator {

/// C = A B by products of groups of 4 warps, as a kernel written by hand. Rows of A lie along the steps or, with
/// `transposed_a`, along its rows; rows of B along the steps or, with `transposed_b`, along its columns.
struct GroupProductKernel {
  DType operand = DType::BFloat16;
  int columns = 64;  ///< of a group: 64, 128, 192 or 256
  bool transposed_a = false, transposed_b = false;
};

/// Of 128 x `columns` x 320, of small whole numbers. Two groups of 64 rows each; 64 steps come to one of four slots of
/// shared memory by asynchronous copies, two blocks ahead, and one barrier a block is enough.
Sample group_product(const GroupProductKernel& product);

}  // namespace tc::emulator
