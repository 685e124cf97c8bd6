#pragma once

#include <Halide.h>

namespace tc::cpu {

/// Lets an iteration have what the one before it stored from a register.
///
///   before  for t in 1:64: H[t] = X[t] + a * H[t - 1]
///   after   carried[0] = H[0]
///           for t in 1:64: let made = X[t] + a * carried[0]  { H[t] = made  carried[0] = made }
///
/// The loop is serial, its bounds are numbers, one store is all that its body does, and the value reads the element in every
/// iteration. LLVM does this where addresses rise along the loop, not where they fall.
Halide::Internal::Stmt carry_values(const Halide::Internal::Stmt& body);

}  // namespace tc::cpu
