#pragma once

#include <Halide.h>

namespace tc::cpu {

/// Lets an iteration have the value that the one before it stored from a register.
///
///   before  for t in 1:64: H[t] = X[t] + a * H[t - 1]
///   after   carried[0] = H[0]
///           for t in 1:64: let made = X[t] + a * carried[0]  { H[t] = made  carried[0] = made }
///
/// The loop is serial, its bounds are numbers, one store is all that its body does, each time to another element, and the value
/// reads that of the iteration before every time. LLVM does this where addresses rise along the loop, not where they fall.
Halide::Internal::Stmt carry_values(const Halide::Internal::Stmt& body);

}  // namespace tc::cpu
