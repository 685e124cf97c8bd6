#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "tc/strategy/cost/cache_sets.h"
#include "tc/strategy/price/priced_cluster.h"

namespace tc::strategy {

/// The memory that an access touches in some iterations: bytes of whole cache lines, in contiguous runs.
struct TouchedLines {
  /// At most this many steps from a run to others are kept.
  static constexpr std::size_t most_rows = 5;

  double bytes = 0, runs = 0;
  double torn =
      0;  ///< average number of lines of a run that contain other data too: the ends, or all lines if it has gaps
  double scattered = 1;                    ///< share of the runs at arbitrary addresses: each has its own cache set
  std::array<LineStep, most_rows> rows{};  ///< the nearest first
  std::size_t row_steps = 0;               ///< of `rows`; 0: one run

  /// The number of lines in the fullest set of a cache in which lines \p period bytes apart share a set.
  double lines_of_a_set(double period) const;
  /// The share of cyclically touched lines that conflicts evict before their reuse, because more lines than \p ways
  /// fall into a set; lines \p period bytes apart share a set.
  double share_sent_away(double period, double ways) const;
  /// The number of sets of such a cache with touched lines.
  double sets(double period) const;
};

/// The lines that \p access of \p statement touches if each iterator takes \p spans consecutive values.
///
///   iterators in ascending order of stride s: while gaps stay below a line, run += (n - 1) * s, else runs *= n; rows of windows,
///   h + r, are n + m - 1
///   bytes = runs * lines of a run, in the mean over the places in a line where it may begin: multiples of the power of two
///           that divides the steps to all other runs, here and in other iterations
///   of an iterator in blocks, those inside and those between
///
/// An iterator without a stride, for example in a data-dependent subscript, begins a run with each of its values.
TouchedLines touched_lines(const PricedCluster& cluster, const PricedStatement& statement, const PricedAccess& access,
                           const std::vector<double>& spans);

/// The same for \p copy, of \p copied values of each iterator, of which accesses touch \p spans. Its order in
/// memory is
///
///   iterators of the result, panels, { rows of the panel }, iterators of the reduction, { lanes of the panel }
///
/// with the vectorised iterator of rows last, in whole vectors. Factors of dot products have another order and the
/// same size.
TouchedLines copied_lines(const PricedStatement& statement, const PricedAccess& access,
                          const polyhedral::NestCopy& copy, double element, const std::vector<double>& copied,
                          const std::vector<double>& spans);

}  // namespace tc::strategy
