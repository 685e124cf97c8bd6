#pragma once

#include <Halide.h>

#include <set>
#include <string>

#include "tc/cuda/emit_kernel.h"

namespace tc::cuda {

/// \p body with stores of 16 bytes in place of stores of two 16-bit elements, where the four threads of a row have neighbouring pairs:
/// each thread of a kernel of \p shape, with four threads along x, gives one word to each of the others and gets theirs, so that a row's
/// stores fill whole sectors. Results of matrix units lie so (matrix_unit.h). Looks at stores into the tensors \p aligned, which begin at
/// multiples of 16 bytes, in unrolled loops that all threads of a warp run. The store is the kernel's only access to the tensor, because
/// barriers stand where threads read or overwrite elements of others, and another thread stores an element now.
///
///   before  unrolled n < 8:  C[8 n + 2 x, 2 elements] = f(n)
///   after   unrolled n < 2:  unrolled part < 4: words[2 part, 2 elements] = f(4 n + part)
///                            tc_store_exchanged(C + 32 n + 8 x, words)
Halide::Internal::Stmt exchange_stores(const Halide::Internal::Stmt& body, const KernelShape& shape,
                                       const std::set<std::string>& aligned);

}  // namespace tc::cuda
