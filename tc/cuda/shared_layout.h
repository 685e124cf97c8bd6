#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tc/cuda/swizzle.h"
#include "tc/cuda/warp_accesses.h"

namespace tc::cuda {

/// Where the elements of a buffer lie: column c of row r at r pitch + c, permuted.
struct SharedLayout {
  std::int64_t columns = 1, rows = 1;
  std::int64_t pitch = 1;  ///< elements from one row to the next
  Swizzle swizzle;

  bool operator==(const SharedLayout&) const = default;
  /// Room it takes, in elements, pads included.
  std::int64_t elements() const;
};

/// Rounds that the banks of shared memory need for \p accesses to a buffer of layout \p before, if it had layout \p
/// after; \p fewest without bank conflicts.
struct BankCount {
  std::int64_t rounds = 0, fewest = 0;
  /// Rounds beyond those that the words need.
  std::int64_t conflicts() const { return rounds - fewest; }
};
BankCount count_bank_conflicts(const std::vector<WarpAccess>& accesses, const SharedLayout& before,
                               const SharedLayout& after, std::int64_t banks);

/// The layout with the fewest bank conflicts among \p now, rows with pads, and swizzles of rows of 2^n elements; of
/// those as good the one with the least memory, before swizzles, which cost instructions. Pieces that threads move at
/// once stay whole. Not more than \p most elements, unless \p now has.
SharedLayout best_layout(const std::vector<WarpAccess>& accesses, const SharedLayout& now, std::int64_t banks,
                         std::int64_t most);

/// The buffers that \p body describes to units of groups of warps (tc_matrix), which say how such a buffer lies.
std::set<std::string> described_buffers(const Halide::Internal::Stmt& body);

/// \p body, of blocks of \p block threads, with the elements of the shared buffers \p swizzles names where their swizzles
/// put them. What the ranges of threads and loops tell is taken into account, so that elements of a piece which an
/// unrolled loop reads side by side are seen to stand side by side:
///
///   before  s[64 x + 4 thread_y + y], y < 4, 16 threads      after  s[4 (16 x + thread_y xor floor(x / 4) mod 8) + y]
Halide::Internal::Stmt swizzled(const Halide::Internal::Stmt& body, const std::map<std::string, Swizzle>& swizzles,
                                const std::array<std::int64_t, 3>& block);

}  // namespace tc::cuda
