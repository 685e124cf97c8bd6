#pragma once

#include <cstddef>
#include <vector>

#include "tc/strategy/price/touched_lines.h"

namespace tc::strategy {

/// Runs in which lines come, and the groups of these that begin and go on side by side.
struct LineOrder {
  double runs = 0, groups = 0;
};

/// The order in which loops from number \p loop on come to their lines, of which \p touched says what one execution of each touches, the
/// last: one vector. What one iteration touches is followed by what the next one does only where it is few runs, which a core follows
/// side by side, and does not end all of them at once.
///
///   for columns j < 4 { for rows k < 100 { B[k][48 j ..] } }      400 runs, though all is one
///   for rows i < 100 { for columns j < 30 { B[8 i .. 8 i + 7][16 j ..] } }      800 runs in 100 groups of 8 side by side
LineOrder order_of_lines(const std::vector<TouchedLines>& touched, std::size_t loop);

}  // namespace tc::strategy
