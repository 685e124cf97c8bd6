#pragma once

#include <cstdint>
#include <vector>

#include "tc/polyhedral/core/isl.h"

/// Loops of a kernel on their way to blocks and threads.
namespace tc::polyhedral {

/// A loop of a band.
struct GridLoop {
  isl::union_pw_aff index;
  bool coincident = false;
};
using GridLoops = std::vector<GridLoop>;

/// An index below loops over its outer digits: what they leave of it, its rest.
///
///   0 <= n < 1000, below n/240 and n%240/48      the rest is n mod 240 mod 48, of 48 values; its next digit is n%48/...
class OpenIndex {
 public:
  /// All of an index, whose values \p whole counts from 0 to \p extent - 1. \p mod: that of its first digit here, where
  /// a loop around has left behind that \p whole is below it; 0: there is none.
  OpenIndex(isl::union_pw_aff whole, std::int64_t extent, bool coincident, std::int64_t mod = 0);

  const isl::union_pw_aff& rest() const { return levels_.back().rest; }
  std::int64_t extent() const { return extent_; }
  std::int64_t mod() const { return levels_.back().mod; }
  bool is_coincident() const { return coincident_; }

  /// How many values floor(rest / \p step) takes.
  std::int64_t values(std::int64_t step) const;
  /// floor(rest / \p step)
  isl::union_pw_aff digit(std::int64_t step) const;
  /// The same, of as much of the index as possible: remainders by multiples of its period are left out.
  isl::union_pw_aff coordinate(std::int64_t step) const;
  /// The index below a loop over floor(rest / \p step).
  OpenIndex below(std::int64_t step) const;

 private:
  struct Level {
    isl::union_pw_aff rest;
    std::int64_t mod = 0;
  };
  std::vector<Level> levels_;  ///< the whole index, then its rest below each loop
  std::int64_t extent_ = 1;
  bool coincident_ = false;
};

/// floor(\p index / \p size), \p index itself in groups of 1.
isl::union_pw_aff in_groups(const isl::union_pw_aff& index, std::int64_t size);
/// The space of \p instances, unbounded.
isl::union_set everywhere(const isl::union_set& instances);
/// 0 wherever the statements of \p domain have instances.
isl::union_pw_aff zero_on(const isl::union_set& domain);
/// \p factor times \p value.
isl::union_pw_aff scaled(const isl::union_pw_aff& value, std::int64_t factor);

}  // namespace tc::polyhedral
