#pragma once

#include <array>

namespace tc::emulator {

/// The words that a lane gives to a product of matrices.
struct LaneFragments {
  std::array<unsigned, 4> a{};
  std::array<unsigned, 2> b{};
  std::array<unsigned, 4> c{};
};

/// C += A B of the fragments of a warp, whose operands are of a tc_emulator_operand. A sum of float32 is one of float64
/// that is rounded once; of int32 it wraps.
void multiply_fragments(int operand, std::array<LaneFragments, 32>& lanes);

}  // namespace tc::emulator
