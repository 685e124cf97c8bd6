#pragma once

#include <cstdint>
#include <vector>

#include "tc/strategy/grid_price/thread_spread.h"

namespace tc::strategy {

/// Where threads of a block keep temporaries, and how much room they take in an ordered loop around statements.
struct KeptTemporaries {
  /// For each tensor: do threads write elements that others read? A temporary that is kept is then in shared memory, and else in
  /// registers (promote_in_block.h).
  std::vector<bool> handed;
  /// The most elements that one thread has in registers at once: each from the first statement that writes it to the last that reads it,
  /// and one that is read of the iteration before, or behind the loop, always. 0 without an ordered loop.
  double registers = 0;
  std::int64_t shared_bytes = 0;  ///< of those in shared memory, of one iteration; 0 without an ordered loop
};

/// The temporaries of \p cluster that are \p kept, if statements run as \p spreads say in blocks of \p shape.
///
///   E: n on thread.y, w on thread.x     O: n on thread.y, d on thread.x, all w       E[n, w] is handed on along x
KeptTemporaries kept_temporaries(const PricedCluster& cluster, const std::vector<ThreadSpread>& spreads,
                                 const KernelShape& shape, const std::vector<bool>& kept);

}  // namespace tc::strategy
