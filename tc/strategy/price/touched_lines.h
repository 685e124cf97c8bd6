#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "tc/strategy/cost/cache_sets.h"
#include "tc/strategy/price/priced_cluster.h"

namespace tc::strategy {

/// What an access touches in some iterations: bytes of whole cache lines, in runs of memory.
struct TouchedLines {
  /// Steps from a run to others; further ones are left out.
  static constexpr std::size_t most_rows = 5;

  double bytes = 0, runs = 0;
  double torn = 0;  ///< lines of a run, in the mean, that hold something else, too: an end, or all where it has gaps
  double scattered = 1;                    ///< of the runs, those that lie anywhere: each has a set of its own
  std::array<LineStep, most_rows> rows{};  ///< the nearest first
  std::size_t row_steps = 0;               ///< of `rows`; 0: one run

  /// Lines that fall into the fullest set of a cache, whose lines \p period bytes apart share a set.
  double lines_of_a_set(double period) const;
  /// Of the lines that are touched in a cycle, those that others have sent away until they come again: where more fall into a
  /// set of a cache than it has \p ways, lines \p period bytes apart sharing one.
  double share_sent_away(double period, double ways) const;
  /// Sets of such a cache that the lines fall into.
  double sets(double period) const;
};

/// What \p access of \p statement touches where each iterator takes as many consecutive values as \p spans says.
///
///   iterators in ascending order of stride s: while gaps stay below a line, run += (n - 1) * s, else runs *= n; rows of windows,
///   h + r, are n + m - 1
///   bytes = runs * lines of a run, in the mean over the places in a line where it may begin: multiples of the power of two
///           that divides the steps to all other runs, here and in other iterations
///   of an iterator in blocks, those inside and those between
///
/// An iterator whose stride is none, as behind an index that a tensor tells, begins a run with each of its values.
TouchedLines touched_lines(const PricedCluster& cluster, const PricedStatement& statement, const PricedAccess& access,
                           const std::vector<double>& spans);

/// The same of the copy \p pack of as much as \p copied says, in which its accesses touch \p spans. It lies in the order
///
///   iterators of the result, panels, { rows of the panel }, iterators of the reduction, { lanes of the panel }
///
/// with the iterator along which vectors of rows run last, in whole vectors. Factors of dot products lie otherwise and take as much.
TouchedLines copied_lines(const PricedStatement& statement, const PricedAccess& access,
                          const polyhedral::PackMapping& pack, double element, const std::vector<double>& copied,
                          const std::vector<double>& spans);

}  // namespace tc::strategy
