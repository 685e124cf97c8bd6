#include "test/cuda_emulator/units/matrix_unit.h"

#include <bit>
#include <cstdint>
#include <span>

#include "tc/base/dtype.h"
#include "tc/base/fragment_lanes.h"
#include "test/cuda_emulator/host/device_calls.h"

namespace tc::emulator {
namespace {

constexpr int rows = 16, columns = 8, most_steps = 32;

int bits_of(int operand) {
  if (operand == tc_emulator_tfloat32) return 32;
  return operand == tc_emulator_bfloat16 || operand == tc_emulator_float16 ? 16 : 8;
}

bool is_integer(int operand) { return operand == tc_emulator_int8 || operand == tc_emulator_uint8; }

/// Element \p i of the registers \p words.
double element(int operand, std::span<const unsigned> words, int i) {
  const int bits = bits_of(operand), each = 32 / bits;
  const unsigned word = words[static_cast<std::size_t>(i / each)] >> (i % each * bits);
  switch (operand) {
    case tc_emulator_bfloat16:
      return bfloat_to_float(static_cast<std::uint16_t>(word));
    case tc_emulator_float16:
      return half_to_float(static_cast<std::uint16_t>(word));
    case tc_emulator_tfloat32:
      return std::bit_cast<float>(word & 0xffffe000u);
    case tc_emulator_int8:
      return static_cast<std::int8_t>(word & 0xffu);
    default:
      return static_cast<std::uint8_t>(word & 0xffu);
  }
}

/// \p sum plus the products \p added, as a register.
unsigned accumulate(int operand, unsigned sum, double added) {
  if (is_integer(operand)) return sum + static_cast<unsigned>(static_cast<std::int64_t>(added));
  return std::bit_cast<unsigned>(static_cast<float>(std::bit_cast<float>(sum) + added));
}

}  // namespace

void multiply_fragments(int operand, std::array<LaneFragments, 32>& lanes) {
  const int bits = bits_of(operand), steps = fragments::steps(bits);
  double a[rows][most_steps], b[most_steps][columns];
  for (int lane = 0; lane < 32; ++lane) {
    const auto& words = lanes[static_cast<std::size_t>(lane)];
    for (int i = 0; i < fragments::count_of_a(bits); ++i) {
      const auto at = fragments::element_of_a(bits, lane, i);
      a[at.row][at.column] = element(operand, words.a, i);
    }
    for (int i = 0; i < fragments::count_of_b(bits); ++i) {
      const auto at = fragments::element_of_b(bits, lane, i);
      b[at.row][at.column] = element(operand, words.b, i);
    }
  }
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) {
      const auto at = fragments::element_of_c(lane, i);
      double added = 0;
      for (int k = 0; k < steps; ++k) added += a[at.row][k] * b[k][at.column];
      auto& sum = lanes[static_cast<std::size_t>(lane)].c[static_cast<std::size_t>(i)];
      sum = accumulate(operand, sum, added);
    }
}

}  // namespace tc::emulator
