#pragma once

#include <string>

#include "tc/base/dtype.h"
#include "test/cuda_emulator/sample_kernels.h"

namespace tc::emulator {

/// C = A B by matrix instructions, as a kernel written by hand.
struct UnitProduct {
  DType operand;
  std::string multiply;      ///< the instruction
  bool transposed_b = true;  ///< a row of B has the steps; else, for elements of 16 bits, the columns
};

/// Of 64 x 64, of small whole numbers, with steps that fill neither the last block nor its last 16 bytes. Blocks of 4 x 8 x 2
/// threads compute tiles of 32 x 32; 64 bytes of the steps of each row come to one of three slots of shared memory,
/// swizzled, by asynchronous copies two blocks ahead.
Sample unit_product(const UnitProduct& product);

}  // namespace tc::emulator
