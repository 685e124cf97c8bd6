#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tc/base/target.h"

/// How LLVM names what processors of one family have: instructions_x86.cpp, and sources like it, are all that know.
namespace tc::cpu {

/// A function of LLVM that is one instruction, on vectors.
struct Intrinsic {
  std::string name;  ///< without "llvm."
  int lanes = 1;     ///< it takes and gives; more than asked for: the others are idle
  /// What stands behind the vectors among its arguments, types and values.
  std::vector<std::pair<std::string, std::string>> constants = {};
};

/// The float16 nearest to each of \p lanes float32, as 16 bits, of at least eight lanes; where \p target has
/// `half_conversions`.
Intrinsic to_half(int lanes);

/// y 2^n, rounded once, for \p lanes numbers of \p bits bits; nothing where \p target takes several instructions.
std::optional<Intrinsic> scale(const Target& target, int bits, int lanes);

/// s(i) + a(2i+1) b(2i+1) + a(2i) b(2i) for \p lanes sums of float32, the pairs of bfloat16 as int32; nothing where
/// \p target has none.
std::optional<Intrinsic> dot_of_bfloats(const Target& target, int lanes);

/// s(i) + a(4i) b(4i) + ... + a(4i+3) b(4i+3) for \p lanes sums of int32, the fours of bytes as int32; nothing where
/// \p target has none.
std::optional<Intrinsic> dot_of_bytes(const Target& target, int lanes);

/// a(2i) b(2i) + a(2i+1) b(2i+1) for \p lanes sums of int32 and words of 16 bits: 4, or as many as the target's
/// registers hold.
Intrinsic dot_of_words(int lanes);

/// The first line of a module of LLVM IR.
const char* data_layout();

/// The features that LLVM needs for \p target beyond those that Halide asks for, each behind a comma.
std::string llvm_features(const Target& target);

}  // namespace tc::cpu
