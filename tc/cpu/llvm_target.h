#pragma once

#include <Halide.h>

#include <memory>

#include "tc/base/target.h"

namespace llvm {
class TargetMachine;
}

namespace tc::cpu {

/// Initialises LLVM's native code generator once.
void initialize_llvm();

/// \p target in Halide's words: no runtime, no bounds queries.
Halide::Target halide_target(const Target& target);

/// Position-independent code with fused multiply-add and no other freedom with floats. The instruction set is that of the
/// functions it compiles.
std::unique_ptr<llvm::TargetMachine> target_machine();

/// Throws OptionsError unless this machine has the instructions of \p target.
void require_instructions(const Target& target);

}  // namespace tc::cpu
