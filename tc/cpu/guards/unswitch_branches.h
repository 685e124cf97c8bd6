#pragma once

#include <Halide.h>

namespace tc::cpu {

/// Takes branches on conditions that a loop does not change out of it: a loop for each case. Rows of the last tile of a symbolic size have
/// such conditions.
///
///   before  for k: { if (1 <= B % 8) acc[0] += ...        after  if (2 <= B % 8) for k: { acc[0] += ...  acc[1] += ... }
///                    if (2 <= B % 8) acc[1] += ... }             else if (1 <= B % 8) for k: acc[0] += ...
///
/// The loop is serial, without loops inside, and its body a sequence of statements of which some are such branches. What follows from a
/// condition that is decided is not asked for. A loop with too many cases, or stores in all of them together, is left as it is.
Halide::Internal::Stmt unswitch_branches(const Halide::Internal::Stmt& stmt);

}  // namespace tc::cpu
