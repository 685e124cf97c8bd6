#pragma once

#include <cstdint>
#include <vector>

#include "tc/polyhedral/nest/nest.h"
#include "tc/strategy/grid_price/thread_spread.h"

namespace tc::strategy {

/// A copy in shared memory and its uses.
struct CopyUse {
  const PricedAccess& read;
  const polyhedral::NestSharedCopy& choice;
  std::vector<std::int64_t> values;       ///< of each iterator of the reader, in one copy
  std::int64_t element = 4, at_once = 1;  ///< bytes; elements that a thread reads side by side
  double times = 1;                       ///< that a thread does so, for each copy
  std::int64_t slots = 1, room = 0;       ///< copies in memory at once; elements that there are for pads
};

/// Rounds of the banks of shared memory over those that the words of \p use would need if no two of them were in one bank, at least
/// 1: in the layout that is chosen behind the mapping (best_layout), counted for the first and the last warp that reads, and the
/// first that writes.
///
///   64 x 32 floats, read along rows and written along columns by 32 threads each     1: a pad of one float
///   read as four floats at once, 16 apart                                            2: whatever the pads
double bank_conflicts(const CopyUse& use, const ThreadSpread& spread, const KernelShape& shape,
                      const GridLimits& limits);

}  // namespace tc::strategy
