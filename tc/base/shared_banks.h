#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tc {

/// What the threads of a warp access with one instruction.
struct WarpAccess {
  std::string buffer;
  bool write = false;
  int element_bytes = 4;
  int elements = 1;                  ///< of each thread, consecutive
  std::int64_t times = 1;            ///< executions that it stands for
  std::vector<std::int64_t> places;  ///< the first element of each thread that takes part, in their order

  /// Bytes that one thread moves.
  int bytes() const { return elements * element_bytes; }
};

/// Rounds in which banks of shared memory, 4 bytes wide each, serve an access.
struct BankCount {
  std::int64_t rounds =
      0;  ///< what a bank has to give of different words to the threads that are served together, at most
  std::int64_t fewest = 0;  ///< the same where no two words are in one bank
  /// Rounds beyond those that the words need.
  std::int64_t conflicts() const { return rounds - fewest; }
};

/// Counts for \p banks; threads are served together as far as their bytes are no more than all banks give.
class BankCounter {
 public:
  explicit BankCounter(std::int64_t banks) : banks_(banks), newest_(static_cast<std::size_t>(banks), -1) {}

  /// Of \p access once, if its threads were at \p places.
  BankCount count(const WarpAccess& access, const std::vector<std::int64_t>& places);
  BankCount count(const WarpAccess& access) { return count(access, access.places); }

 private:
  struct Word {
    std::int64_t word = 0;
    int earlier = -1;  ///< of the same bank
  };
  std::int64_t banks_;
  std::vector<int> newest_;  ///< of the words of each bank
  std::vector<Word> words_;  ///< that are different
};

/// Pieces of memory of \p sector bytes that \p access touches; \p base is the address of element 0.
std::int64_t sectors(const WarpAccess& access, std::int64_t sector, std::int64_t base = 0);

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

/// Where the elements of a buffer lie: column c of row r at r pitch + c, permuted.
struct SharedLayout {
  std::int64_t columns = 1, rows = 1;
  std::int64_t pitch = 1;  ///< elements from one row to the next
  Swizzle swizzle;

  bool operator==(const SharedLayout&) const = default;
  /// Room it takes, in elements, pads included.
  std::int64_t elements() const;
};

/// Rounds that the banks of shared memory need for \p accesses to a buffer of layout \p before, if it had layout \p after.
BankCount count_bank_conflicts(const std::vector<WarpAccess>& accesses, const SharedLayout& before,
                               const SharedLayout& after, std::int64_t banks);

/// The layout with the fewest bank conflicts among \p now, rows with pads, and swizzles of rows of 2^n elements; of
/// those as good the one with the least memory, before swizzles, which cost instructions. Pieces that threads move at
/// once stay whole. Not more than \p most elements, unless \p now has.
SharedLayout best_layout(const std::vector<WarpAccess>& accesses, const SharedLayout& now, std::int64_t banks,
                         std::int64_t most);

}  // namespace tc
