#pragma once

namespace llvm {
class Module;
}

namespace tc::cpu {

/// Takes back what Halide's code generator assumed of the alignment of memory that is not the function's own: a caller's
/// tensor is aligned to its elements, no more. Loads and stores of stack and heap allocations and of constants stay as they are.
void relax_alignment(llvm::Module& module);

}  // namespace tc::cpu
