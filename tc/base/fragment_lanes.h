#pragma once

/// Which element of its operands a lane of a warp holds for the matrix instructions of PTX (`mma.sync.aligned.m16n8kN`,
/// N = 256 bits of an element), by the formulas of the PTX manual: groupID is lane / 4, threadID_in_group lane % 4. Where
/// operands lie in shared memory and who holds which sum for those of groups of 4 warps (`wgmma.mma_async`, m64nNk16).
namespace tc::fragments {

struct Element {
  int row, column;
  bool operator==(const Element&) const = default;
};

/// Columns of A and rows of B of an instruction whose elements have \p bits bits: 8, 16 or 32.
constexpr int steps(int bits) { return 256 / bits; }
/// Elements of A that a lane holds, and of B; of C it holds 4.
constexpr int count_of_a(int bits) { return 128 / bits; }
constexpr int count_of_b(int bits) { return 64 / bits; }

/// The row and the column of A, 16 x steps(bits), of the \p i-th of the elements that \p lane holds, in the order of its
/// registers, lowest bits first.
constexpr Element element_of_a(int bits, int lane, int i) {
  const int group = lane >> 2, thread_in_group = lane % 4;
  switch (bits) {
    case 16:
      return {i < 2 || (4 <= i && i < 6) ? group : group + 8,
              i < 4 ? thread_in_group * 2 + (i & 1) : thread_in_group * 2 + (i & 1) + 8};
    case 32:
      return {i == 0 || i == 2 ? group : group + 8, i < 2 ? thread_in_group : thread_in_group + 4};
    default:
      return {i < 4 || (8 <= i && i < 12) ? group : group + 8,
              i < 8 ? thread_in_group * 4 + (i & 3) : thread_in_group * 4 + (i & 3) + 16};
  }
}

/// The row and the column of B, steps(bits) x 8, of the \p i-th of the elements that \p lane holds.
constexpr Element element_of_b(int bits, int lane, int i) {
  const int group = lane >> 2, thread_in_group = lane % 4;
  switch (bits) {
    case 16:
      return {i < 2 ? thread_in_group * 2 + (i & 1) : thread_in_group * 2 + (i & 1) + 8, group};
    case 32:
      return {i == 0 ? thread_in_group : thread_in_group + 4, group};
    default:
      return {i < 4 ? thread_in_group * 4 + (i & 3) : thread_in_group * 4 + (i & 3) + 16, group};
  }
}

/// The row and the column of C, 16 x 8 of 32 bits, of the \p i-th of the elements that \p lane holds.
constexpr Element element_of_c(int lane, int i) {
  const int group = lane >> 2, thread_in_group = lane % 4;
  return {i < 2 ? group : group + 8, thread_in_group * 2 + (i & 1)};
}

/// Which element of a matrix of 8 rows of 16 bytes `ldmatrix` gives to \p lane as the \p i-th of its word, of elements of
/// \p bits bits; \p transposed is for 16 bits only. Row r of matrix number j is the one that lane 8 j + r names.
constexpr Element element_of_matrix(int bits, int lane, int i, bool transposed) {
  if (transposed) return {lane % 4 * 2 + i, lane / 4};
  return {lane / 4, lane % 4 * (32 / bits) + i};
}

/// The row and the column of D, 64 x N, of the \p i-th of the N / 2 sums that thread \p thread of a group of 128 holds.
constexpr Element element_of_group(int thread, int i) {
  return {16 * (thread / 32) + thread % 32 / 4 + 8 * (i / 2 % 2), 8 * (i / 4) + thread % 4 * 2 + i % 2};
}

/// The byte at which the element \p along (a row of A, a column of B) and \p step of an operand of 16-bit elements lies in
/// shared memory, in the 128-byte swizzled layout from byte \p start on; \p transposed: rows of 128 bytes lie along m or n,
/// not along k. 8 rows are \p stride bytes from the next 8; of transposed ones, 64 elements \p leading bytes from the next.
/// Byte 0 is a multiple of 1024.
constexpr unsigned byte_of_operand(unsigned start, unsigned leading, unsigned stride, bool transposed, int along,
                                   int step) {
  const auto row = static_cast<unsigned>(transposed ? step : along),
             column = static_cast<unsigned>(transposed ? along : step);
  const unsigned plain =
      start + row / 8 * stride + row % 8 * 128 + (transposed ? column / 64 * leading : 0) + column % 64 * 2;
  return plain ^ (plain >> 7 & 7) << 4;
}

}  // namespace tc::fragments
