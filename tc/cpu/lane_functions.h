#pragma once

#include <string>

#include "tc/base/target.h"

namespace tc::cpu {

/// Functions that Halide's IR lacks and an instruction or a few have, as a module of LLVM IR for \p target, to be
/// inlined where they are called; for scalars (tc_<name>_f32|f64) and for vectors (tc_<name>_f32|f64x<lanes>):
///
///   fused(a, b, c)   a b + c with one rounding; on a target without that instruction with an error far below the last place
///                    unless a b + c cancels in more than half of its places
///   fma(a, b, c)     a b + c with one rounding; only on targets that have the instruction
///   nearest(x)       the nearest whole number, halves to the even one
///   root(x)          the square root
///   scale(y, n)      y 2^n, rounded once, for whole n: for |n| <= 250 and 2000, where y 2^(n/2) is normal
///   quotient(a, b)   a / b, the same b in all lanes, rounded as IEEE division
///
/// and on narrower elements:
///
///   tc_from_half_f32(h)        the float16 of the bits UInt(16) as a float32
///   tc_to_half_i32(x)          the bits of the float16 nearest to a float32, in the low half of an Int(32)
///   tc_dot_bf16_f32(s, a, b)   s(i) + a(2i+1) b(2i+1) + a(2i) b(2i), bits UInt(16, 2n) of bfloat16 values; for vectors only.
///                              The instruction (Target::bf16_dot) takes denormals for 0
///   tc_dot_u8s8_i32(s, a, b)   s(i) + a(4i) b(4i) + ... + a(4i+3) b(4i+3) for UInt(8, 4n) and Int(8, 4n); for vectors only
///
/// and on pointers:
///
///   tc_launder(p)              p, of which LLVM does not know where it points
///   tc_prefetch(p, i)          asks for the cache line i bytes behind p, for reading; 0
///   tc_prefetch_l2(p, i)       the same, into the second cache
std::string lane_functions(const Target& target);

/// The functions on pointers alone: a module that LLVM reads sooner.
std::string pointer_functions();

/// Whether \p name is one of these, without its number of lanes.
bool is_lane_function(const std::string& name);
bool is_pointer_function(const std::string& name);

}  // namespace tc::cpu
