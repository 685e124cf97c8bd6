#pragma once

#include <Halide.h>

namespace tc::cpu {

/// Unrolls a loop around a ragged loop and jams the ragged loops into one, so that it reads its bounds and its rows once for all
/// results, which stay in registers.
///
///   before  for c in 0:4: { Y[c*16] = 0
///                           for j from P[r] to P[r + 1]: Y[c*16] = Y[c*16] + X[I[j]*64 + c*16] }
///   after   kept[0] = 0  kept[16] = 0  ...
///           for j from P[r] to P[r + 1]: { kept[0] = kept[0] + X[I[j]*64]  kept[16] = kept[16] + X[I[j]*64 + 16]  ... }
///           Y[0] = kept[0]  Y[16] = kept[16]  ...
///
/// The bounds of the inner loop are no numbers and do not depend on the outer one; its body is one whole store to a place that it does
/// not change and that differs from iteration to iteration of the outer one, and reads of its tensor are of that place. At most
/// `most_jammed` iterations are unrolled together.
Halide::Internal::Stmt jam_ragged_loops(const Halide::Internal::Stmt& body);

}  // namespace tc::cpu
