#pragma once

#include <Halide.h>

namespace tc::halide_bridge {

/// Replaces what raise leaves as a call of the language by operations on any number of lanes, for a machine that has no
/// instruction or library for it: built-in functions (see float_ops.h and vector_math.h), conversions of bfloat16, and
/// quotients of many lanes by one value. The same operations run in scalar code and in vectors, so that a value does
/// not depend on how a loop was cut. Functions without such a form stay calls.
///
///   before  C[ramp(0, 1, 8)] = tc_max_f32(A[...], B[...]) / x8(s)
///   after   let a = A[...], b = B[...] in C[ramp(0, 1, 8)] = tc_quotient_f32(select(a == a, select(a > b, a, b), a), x8(s))
Halide::Internal::Stmt expand_functions(const Halide::Internal::Stmt& body);

}  // namespace tc::halide_bridge
