#pragma once

#include <vector>

#include "tc/strategy/price/priced_cluster.h"

namespace tc::strategy {

/// What an access touches in some iterations: bytes of whole cache lines, in runs of memory.
struct TouchedLines {
  double bytes = 0, runs = 0;
  double row_step = 0;  ///< bytes from one run to the next, the least; 0: one run

  /// Lines that fall into the fullest set of a cache, whose lines \p period bytes apart share a set.
  double lines_of_a_set(double period) const;
};

/// What \p access of \p cluster touches where each iterator takes as many consecutive values as \p spans says.
///
///   iterators in ascending order of stride s: while gaps stay below a line, run += (n - 1) * s, else runs *= n
///   bytes = runs * lines of a run
TouchedLines touched_lines(const PricedCluster& cluster, const PricedAccess& access, const std::vector<double>& spans);

/// The same of a dense copy of what \p access touches.
TouchedLines copied_lines(const PricedAccess& access, double element, const std::vector<double>& spans);

}  // namespace tc::strategy
