#pragma once

#include <cstdint>
#include <vector>

#include "tc/polyhedral/core/scop.h"

namespace tc::strategy {

/// A condition on iterators of a statement, that all linear forms are non-negative; where it is false, instances add
/// nothing.
struct Guard {
  struct Form {
    std::vector<std::int64_t> factor;  ///< of each of `iterators`
    std::int64_t constant = 0;
  };
  std::vector<int> iterators;  ///< of the statement, ascending
  std::vector<Form> forms;
};

/// Fractions of tiles with some active instances, and with only active instances.
struct GuardedShares {
  double some = 1, all = 1;
};

/// The conditions under which instances of \p statement, a sum, read their terms; each iterator is in at most one of
/// them:
///
///   O(n,w) += w + s >= 1 && w + s <= W ? X(n, w + s - 1) * K(s) : 0      { w + s - 1, W - w - s }
///
/// None if a value is read without a condition, or if conditions have another form.
std::vector<Guard> guards_of(const polyhedral::Statement& statement);

/// The shares of \p guard among the tiles with \p points of each iterator, of \p extent values. A form is assumed to
/// hold in a tile if it holds in one of its corners. Returns 1 if there are too many tiles to examine.
GuardedShares guarded_shares(const Guard& guard, const std::vector<double>& extent, const std::vector<double>& points);

/// The share of the box of its iterators that \p statement runs, where loops in order have no instances for some values of others: the mean
/// over iterations of the outermost loop, of `sampled_iterations` of them, each as the box of what it runs. 1 outside of loops.
///
///   S: 0 <= b < 32 and 64 b <= n < 2048        (2048 + 1984 + ... + 64) / (32 * 2048) = 0.52
double run_share(const polyhedral::Statement& statement);

}  // namespace tc::strategy
