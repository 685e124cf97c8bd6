#pragma once

#include "tc/library/description/library.h"

namespace tc::library {

/// OpenBLAS (libopenblas.so.0, or the file that TC_OPENBLAS names), opened at the first use. float32 and float64.
///
/// | routine | computes |
/// |---|---|
/// | `gemv`, `gemv_into` | y = A x, y += A x; any increments, A by rows or by columns |
/// | `gemm`, `gemm_into` | C = A B, C += A B; each matrix by rows or by columns with a leading dimension |
///
/// Other indices of the result are loops around them. Its threads are set for each call; what other threads of the
/// process asked OpenBLAS for is as before afterwards.
Library openblas();

}  // namespace tc::library
