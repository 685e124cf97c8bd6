#pragma once

#include <cstdint>

#include "tc/base/ceil_div.h"

namespace tc::strategy {

/// Element operations below which starting threads costs more than it saves: for a cluster, and for one iteration of
/// its parallel loop.
constexpr std::int64_t parallel_cluster = 64 << 10, parallel_iteration = 16 << 10;

/// The share of \p cores that is busy while \p tasks of one length run.
inline double busy_share(std::int64_t tasks, std::int64_t cores) {
  return static_cast<double>(tasks) / static_cast<double>(round_up(tasks, cores));
}

/// Iterations that make one task: enough for its work, \p each an iteration, to pay for a thread, as long as \p trips
/// leave \p tasks of them. A power of two.
inline std::int64_t task_iterations(std::int64_t trips, std::int64_t each, std::int64_t tasks) {
  std::int64_t result = 1;
  while (result * each < parallel_iteration && tasks * result <= trips) result *= 2;
  return result;
}

}  // namespace tc::strategy
