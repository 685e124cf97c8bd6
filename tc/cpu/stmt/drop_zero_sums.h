#pragma once

#include <Halide.h>

namespace tc::cpu {

/// Leaves out what adds nothing, and loops and branches that do nothing else.
///
///   before  if (p) for c: { acc[0] = acc[0] + X[c]; acc[1] = acc[1] + 0 }        after  if (p) for c: acc[0] = acc[0] + X[c]
///           else   for c: { acc[0] = acc[0] + 0; acc[1] = acc[1] + 0 }
///
/// Values are the same, but that a sum of -0 stays one where 0 would have been added.
Halide::Internal::Stmt drop_zero_sums(const Halide::Internal::Stmt& body);

}  // namespace tc::cpu
