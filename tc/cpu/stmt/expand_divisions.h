#pragma once

#include <Halide.h>

namespace tc::cpu {

/// \p body with integer divisions that machine instructions carry out as they stand. Its Div and Mod are Euclidean:
/// a = b * (a/b) + a%b with 0 <= a%b < |b|, both 0 for b = 0; a quotient that leaves the type wraps.
///
/// Division by a small positive literal stays, as Halide makes it a shift or a multiplication. Any other becomes one
/// that rounds towards zero, by a divisor that is neither 0 nor a small literal, and without overflow. Halide's own
/// expansion does so too, but simplifies the divisor on the way, and its truncating division by a small signed
/// literal is wrong: 1/3 gives -1.
///
/// A lane's zero becomes 1 by an or, not by a choice: LLVM 14 takes a vector of literals with a zero anywhere for a
/// divisor that cannot be, and drops it from a choice between two, with the lanes of it that are asked for.
///
/// A division of floats by a literal zero, which Halide refuses, is a product with an infinity: the same numbers and NaN.
///
///   before  a/b, unsigned     after  select(b == 0, 0, div_round_to_zero(a, b | (b == 0)))
Halide::Internal::Stmt expand_divisions(const Halide::Internal::Stmt& body);

}  // namespace tc::cpu
