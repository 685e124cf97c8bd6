#include "tc/strategy/grid/resident_blocks.h"

#include <algorithm>

#include "tc/base/ceil_div.h"

namespace tc::strategy {

std::int64_t resident_blocks(const GridLimits& limits, std::int64_t threads, std::int64_t shared_bytes,
                             std::int64_t thread_registers) {
  auto whole_warps = round_up(threads, limits.warp_size);
  auto block_bytes = std::max<std::int64_t>(shared_bytes + limits.reserved_shared_bytes, 1);
  auto result = std::min({limits.multiprocessor_blocks, limits.multiprocessor_threads / whole_warps,
                          limits.multiprocessor_registers / (whole_warps * thread_registers),
                          limits.multiprocessor_shared_bytes / block_bytes});
  return std::max<std::int64_t>(result, 1);
}

std::array<std::int64_t, 3> fit_grid(const std::array<std::int64_t, 3>& grid, std::int64_t most) {
  std::array<std::int64_t, 3> result;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    result[i] = std::clamp<std::int64_t>(most, 1, grid[i]);
    most /= result[i];
  }
  return result;
}

}  // namespace tc::strategy
