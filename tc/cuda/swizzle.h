#pragma once

#include <cstdint>

namespace tc::cuda {

/// A permutation of the places of a buffer, its own inverse: bits of the row's number are added, exclusively, to those
/// of the column's. Place p goes to p xor (floor(p / 2^from) mod 2^bits) 2^to; from >= to + bits.
///
/// With `panel` rows of `columns` elements are cut first, so that the place of column c of row r is
/// floor(c / panel) rows panel + r panel + c mod panel; then it is no longer its own inverse.
///
///   rows of 64, pieces of 4: {.bits = 3, .from = 8, .to = 2}      piece q of row r goes to piece q xor (floor(r / 4) mod 8)
struct Swizzle {
  int bits = 0;  ///< 0: none
  int from = 0, to = 0;
  std::int64_t panel = 0, columns = 0, rows = 0;  ///< 0: rows are not cut

  bool operator==(const Swizzle&) const = default;
  std::int64_t operator()(std::int64_t place) const {
    if (panel > 0) place = place % columns / panel * rows * panel + place / columns * panel + place % panel;
    return place ^ (((place >> from) & ((std::int64_t{1} << bits) - 1)) << to);
  }
  /// Places that are permuted among themselves: a buffer has a multiple of them.
  std::int64_t period() const { return bits == 0 ? 1 : std::int64_t{1} << (to + bits); }
};

}  // namespace tc::cuda
