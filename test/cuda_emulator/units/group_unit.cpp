#include "test/cuda_emulator/units/group_unit.h"

namespace tc::emulator {
namespace {

/// Bytes of a row of a piece, rows of a piece, and bytes of an element.
constexpr int bytes_of_row = 128, piece_rows = 8, element_bytes = 2;

unsigned field(unsigned long long descriptor, int bit) {
  return static_cast<unsigned>(descriptor >> bit & 0x3fff) << 4;
}

}  // namespace

int row_of_sum(int thread, std::size_t i) {
  return 16 * (thread / 32) + 8 * static_cast<int>(i / 2 % 2) + thread % 32 / 4;
}

int column_of_sum(int thread, std::size_t i) {
  return 8 * static_cast<int>(i / 4) + 2 * (thread % 4) + static_cast<int>(i % 2);
}

unsigned long long group_descriptor(unsigned address, int leading, int stride) {
  const auto bits = [](unsigned value) { return static_cast<unsigned long long>((value & 0x3ffff) >> 4); };
  return bits(address) | bits(static_cast<unsigned>(leading)) << 16 | bits(static_cast<unsigned>(stride)) << 32 |
         1ull << 62;
}

bool is_swizzled_128(unsigned long long descriptor) { return descriptor >> 62 == 1 && (descriptor >> 49 & 7) == 0; }

unsigned element_address(unsigned long long descriptor, bool transposed, int along, int step) {
  const auto place = [&](int row, int column, int across) {
    return field(descriptor, 0) + static_cast<unsigned>(row / piece_rows) * field(descriptor, 32) +
           static_cast<unsigned>(across) * field(descriptor, 16) +
           static_cast<unsigned>(row % piece_rows * bytes_of_row + column * element_bytes);
  };
  constexpr int row_elements = bytes_of_row / element_bytes;
  const auto plain = transposed ? place(step, along % row_elements, along / row_elements) : place(along, step, 0);
  return plain ^ (plain >> 7 & 7) << 4;
}

}  // namespace tc::emulator
