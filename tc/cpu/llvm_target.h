#pragma once

#include <Halide.h>

#include <memory>

#include "tc/base/contraction.h"
#include "tc/base/target.h"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace tc::cpu {

/// Initialises LLVM's native code generator once; a fork waits for it. Halide is told to stay on the stack of the thread
/// that calls it, which the engine makes large, in place of one that it allocates and cannot do without.
void initialize_llvm();

/// \p target in Halide's words: no runtime, no bounds queries.
Halide::Target halide_target(const Target& target);

/// Compiles to the instruction set that Halide wrote down in the flags of \p module: position-independent code with
/// fused multiply-add as \p contraction says and no other freedom with floats.
std::unique_ptr<llvm::TargetMachine> target_machine(const llvm::Module& module, const Target& target,
                                                    Contraction contraction);

/// Throws OptionsError unless this machine has the instructions of \p target.
void require_instructions(const Target& target);

}  // namespace tc::cpu
