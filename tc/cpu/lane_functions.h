#pragma once

#include <string>

#include "tc/base/target.h"

namespace tc::cpu {

/// Functions that Halide's IR lacks and an instruction or a few have, as a module of LLVM IR for \p target, to be
/// inlined where they are called; for scalars (tc_<name>_f32|f64) and for vectors (tc_<name>_f32|f64x<lanes>):
///
///   fused(a, b, c)   a b + c with one rounding; on a target without that instruction with an error far below the last
///   place
///                    unless a b + c cancels in more than half of its places
///   fma(a, b, c)     a b + c with one rounding; only on targets that have the instruction
///   nearest(x)       the nearest whole number, halves to the even one
///   root(x)          the square root
///   scale(y, n)      y 2^n, rounded once, for whole n: for |n| <= 250 and 2000, where y 2^(n/2) is normal
///   quotient(a, b)   a / b, the same b in all lanes, rounded as IEEE division
std::string lane_functions(const Target& target);

/// The names of these functions begin so, but tc_fma begins with no other function's name.
bool is_lane_function(const std::string& name);

}  // namespace tc::cpu
