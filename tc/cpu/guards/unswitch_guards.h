#pragma once

#include <Halide.h>

namespace tc::cpu {

/// Takes conditions that a loop does not change out of it.
///
///   before  for c: { acc[0] = acc[0] + (p ? X[c] : 0)       after  if (p) if (q) for c: { acc[0] = acc[0] + X[c]; acc[1] = acc[1] + Y[c] }
///                    acc[1] = acc[1] + (q ? Y[c] : 0) }                   else   for c: { acc[0] = acc[0] + X[c]; acc[1] = acc[1] + 0 }
///                                                                  else ...
///
/// Equal conditions are decided once, and what follows from one that is decided is not asked for. Where there are too many cases,
/// there is one loop for that in which all hold, and else one for each condition. The loop must be serial and its body stores to constant places
/// of one buffer, each of which reads that buffer at most at its own place, so that they may run one after the other.
/// Only scalar conditions of if_then_else that read no memory count.
///
/// In a loop whose stores keep them, what guards whole vectors of all stores is a branch inside: no lane of a load that
/// is switched off is touched, which costs hundreds of cycles where its page does not exist. What guards some of the stores is
/// decided together: where all of it holds, stores read without asking, and what they read alike is read once.
///
///   before  for c: acc[ramp] = acc[ramp] + (x16(p) && v ? X[...] : 0)    after  for c: if (p) acc[ramp] = acc[ramp] + (v ? X[...] : 0)
///                                                                                else   acc[ramp] = acc[ramp] + 0
///   before  for c: { acc[0] = acc[0] + (p ? X[c] : 0)       after  for c: if (p && q) { acc[0] = acc[0] + X[c]; acc[1] = acc[1] + (v ? X[c] : 0) }
///                    acc[1] = acc[1] + (q && v ? X[c] : 0) }                else { as before }
Halide::Internal::Stmt unswitch_guards(const Halide::Internal::Stmt& stmt);

}  // namespace tc::cpu
