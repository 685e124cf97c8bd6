#pragma once

#include <cstdint>
#include <vector>

#include "tc/polyhedral/core/scop.h"

namespace tc::strategy {

/// A condition on iterators of a statement outside of which its instances add nothing: that none of some linear forms is negative.
struct Guard {
  struct Form {
    std::vector<std::int64_t> factor;  ///< of each of `iterators`
    std::int64_t constant = 0;
  };
  std::vector<int> iterators;  ///< of the statement, ascending
  std::vector<Form> forms;
};

/// Of tiles, those of which some instances add something, and those of which all do.
struct GuardedShares {
  double some = 1, all = 1;
};

/// The conditions, on different iterators each, under which instances of \p statement, a sum, read what they add:
///
///   O(n,w) += w + s >= 1 && w + s <= W ? X(n, w + s - 1) * K(s) : 0      { w + s - 1, W - w - s }
///
/// None where a value is read without a condition, or conditions are others than these.
std::vector<Guard> guards_of(const polyhedral::Statement& statement);

/// Of the tiles with \p points of each iterator, of \p extent values, the shares that \p guard leaves; the conditions of a form are
/// taken to hold in a tile where they hold in one of its corners. All of them where there are too many to look at.
GuardedShares guarded_shares(const Guard& guard, const std::vector<double>& extent, const std::vector<double>& points);

}  // namespace tc::strategy
