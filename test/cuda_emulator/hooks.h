#pragma once

#include "test/cuda_emulator/emulator.h"

namespace tc::emulator {

/// What kernels see as threadIdx, blockIdx, and blockDim and gridDim.
void set_thread(const Dim3& thread);
void set_block(const Dim3& block);
void set_sizes(const LaunchShape& shape);

}  // namespace tc::emulator
