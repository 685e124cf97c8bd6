#pragma once

#include <algorithm>
#include <cstdint>

namespace tc {

/// More than a machine does in a month: counts of instances, elements and bytes end here, so that what decisions do with
/// them, sums and products with sizes of types and numbers of lanes and cores, fits 64 bits.
inline constexpr std::int64_t most_counted = std::int64_t{1} << 52;

/// \p a times \p b, counts that are not negative, but at most \p most.
inline std::int64_t count_product(std::int64_t a, std::int64_t b, std::int64_t most = most_counted) {
  std::int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? most : std::min(result, most);
}

}  // namespace tc
