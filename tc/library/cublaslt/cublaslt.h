#pragma once

#include "tc/library/description/library.h"

namespace tc::library {

/// NVIDIA's cuBLASLt 12 or 13 (the file that TC_CUBLASLT names, libcublasLt.so on the loader's path, or in a folder of
/// cuda::toolkit_folders()), opened at the first use. Its headers are not needed: shared.h declares the functions.
///
/// | routine | computes |
/// |---|---|
/// | `matmul`, `matmul_shared` | products of matrices, one or a batch, in any order of the elements; then a bias, a sum with a tensor, relu or gelu |
///
/// float32 (not rounded to TF32), float64, and float16 and bfloat16 with sums in float32, rounded once or not at all.
Library cublaslt();

/// Its routines; with \p shared, one matrix is the second factor of all of a batch.
Routine cublaslt_matmul(bool shared);

}  // namespace tc::library
