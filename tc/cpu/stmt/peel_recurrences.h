#pragma once

#include <Halide.h>

namespace tc::cpu {

/// Runs the first iterations of a recurrence in a loop of their own, so that the others ask no condition.
///
///   before  for t in 0:64: H[t] = X[t] + (1 <= t ? a * H[t - 1] : 0)      after  for t in 0:1:  H[t] = X[t] + 0
///                                                                              for t in 1:64: H[t] = X[t] + a * H[t - 1]
///
/// The loop is serial, its bounds are numbers, and a condition `c <= t` with a number c, at most most_peeled above the first iteration,
/// guards a read of a buffer that the loop stores to.
Halide::Internal::Stmt peel_recurrences(const Halide::Internal::Stmt& body);

}  // namespace tc::cpu
