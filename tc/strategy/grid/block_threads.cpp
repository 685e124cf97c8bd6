#include "tc/strategy/grid/block_threads.h"

#include <algorithm>

#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc::strategy {
namespace {

std::int64_t power_of_two_up_to(std::int64_t value, std::int64_t most) {
  std::int64_t result = 1;
  while (result < value && 2 * result <= most) result *= 2;
  return result;
}

}  // namespace

std::int64_t most_threads(const GridLimits& limits, const polyhedral::MappingOptions& options) {
  if (options.block.empty()) return std::min(usual_threads, limits.block_threads);
  std::int64_t result = 1;
  for (auto threads : options.block) result *= threads;
  if (result > limits.block_threads || (options.block.size() > 2 && options.block[2] > limits.block[2]))
    throw OptionsError(str("mapping option 'block=", join(options.block, "x"), "': the target has at most ",
                           limits.block_threads, " threads a block, ", limits.block[2], " of them in z"));
  return result;
}

std::int64_t threads_for(std::int64_t count, int dimension, std::int64_t room, const GridLimits& limits,
                         const polyhedral::MappingOptions& options) {
  auto index = static_cast<std::size_t>(dimension);
  if (options.block.empty()) return std::min(power_of_two_up_to(count, room), limits.block[index]);
  return index < options.block.size() ? std::min(options.block[index], count) : 1;
}

std::int64_t shared_bytes(const GridLimits& limits, const polyhedral::MappingOptions& options) {
  return options.shared_bytes > 0 ? std::min(options.shared_bytes, limits.block_shared_bytes_requested)
                                  : limits.block_shared_bytes;
}

}  // namespace tc::strategy
