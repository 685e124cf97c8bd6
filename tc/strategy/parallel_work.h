#pragma once

#include <cstdint>

namespace tc::strategy {

/// Element operations below which starting threads costs more than it saves: for a cluster, and for one iteration of
/// its parallel loop.
constexpr std::int64_t parallel_cluster = 64 << 10, parallel_iteration = 16 << 10;

inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
inline std::int64_t round_up(std::int64_t a, std::int64_t b) { return ceil_div(a, b) * b; }

/// The share of \p cores that is busy while \p tasks of one length run.
inline double busy_share(std::int64_t tasks, std::int64_t cores) {
  return static_cast<double>(tasks) / static_cast<double>(ceil_div(tasks, cores) * cores);
}

/// Iterations that make one task: enough for its work, \p each an iteration, to pay for a thread, as long as \p trips
/// leave \p tasks of them. A power of two.
inline std::int64_t task_iterations(std::int64_t trips, std::int64_t each, std::int64_t tasks) {
  std::int64_t result = 1;
  while (result * each < parallel_iteration && tasks * result <= trips) result *= 2;
  return result;
}

}  // namespace tc::strategy
