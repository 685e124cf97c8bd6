#pragma once

#include <cstddef>
#include <vector>

#include "tc/strategy/price/touched_lines.h"

namespace tc::strategy {

/// The contiguous runs in which lines are accessed, and the groups of runs that are accessed in parallel.
struct LineOrder {
  double runs = 0, groups = 0;
};

/// The order in which loops from number \p loop on access their lines. \p touched are the lines of one execution of
/// each loop, and at last of one vector. An iteration continues the runs of the previous one only if they are few, so
/// that a core can follow them in parallel, and if they do not all end at once.
///
///   for columns j < 4 { for rows k < 100 { B[k][48 j ..] } }      400 runs, though all is one
///   for rows i < 100 { for columns j < 30 { B[8 i .. 8 i + 7][16 j ..] } }      800 runs in 100 groups of 8 side by side
LineOrder order_of_lines(const std::vector<TouchedLines>& touched, std::size_t loop);

}  // namespace tc::strategy
