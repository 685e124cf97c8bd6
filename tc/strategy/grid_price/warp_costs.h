#pragma once

#include <cstdint>

#include "tc/base/target.h"
#include "tc/strategy/grid_price/thread_spread.h"

namespace tc::strategy {

/// What all warps of a block take for one access, each once.
struct WarpCosts {
  double warps = 0;          ///< that take part
  double sectors = 0;        ///< of memory; the mean of blocks that begin elsewhere
  double cache_rounds = 0;   ///< of the first cache
  double shared_rounds = 0;  ///< of the banks of shared memory, if no two words are in one bank
};

/// How an access is made: elements of \p element bytes, `at_once` of them, where a write is one thread's for what it does not
/// move along.
struct AccessForm {
  std::int64_t element = 4, at_once = 1;
  bool write = false;
};

/// The costs of the first round of \p access of a statement that runs as \p spread says in blocks of \p shape: addresses
/// are those of the threads of each warp, one by one; warps whose addresses differ by whole sectors cost the same.
WarpCosts warp_costs(const PricedAccess& access, const AccessForm& form, const ThreadSpread& spread,
                     const KernelShape& shape, const GridLimits& limits);

/// Threads of a block that run the statement of \p spread, and warps with such a thread.
struct ActiveThreads {
  double threads = 0, warps = 0;
};
ActiveThreads active_threads(const ThreadSpread& spread, const KernelShape& shape, const GridLimits& limits);

}  // namespace tc::strategy
