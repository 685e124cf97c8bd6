#pragma once

#include <Halide.h>

namespace tc::cpu {

/// \p body with buffers on the stack reached through a pointer LLVM cannot trace to them (lane function tc_launder),
/// where an address is a sum with a part that may be negative.
///
///   before  allocate x in Stack  { x[max(i, -1)*16 + 16] = 0 }
///   after   allocate x in Stack  let x' = tc_launder(x) in { x'[max(i, -1)*16 + 16] = 0 }
///
/// LLVM adds up an address in steps, ((x + max(i, -1)*16) + 16), each marked as one within x: Halide's code generator
/// and LLVM itself split sums like that. Where LLVM knows the buffer, it concludes that no step lies below it.
Halide::Internal::Stmt launder_buffers(const Halide::Internal::Stmt& body);

}  // namespace tc::cpu
