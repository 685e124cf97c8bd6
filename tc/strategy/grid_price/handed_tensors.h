#pragma once

#include <vector>

#include "tc/strategy/grid_price/thread_spread.h"

namespace tc::strategy {

/// For each tensor of \p cluster: do threads of a block write elements that others of its threads read? A temporary that is kept is
/// then in shared memory, and else in registers (promote_in_block.h). \p spreads says how each statement runs in blocks of \p shape.
///
///   E: n on thread.y, w on thread.x     O: n on thread.y, d on thread.x, all w       E[n, w] is handed on along x
std::vector<bool> handed_tensors(const PricedCluster& cluster, const std::vector<ThreadSpread>& spreads,
                                 const KernelShape& shape);

}  // namespace tc::strategy
