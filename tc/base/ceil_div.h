#pragma once

#include <concepts>
#include <type_traits>

#include "tc/base/error.h"

namespace tc {

/// \p divisor. Throws InternalError where that is 0: a processor would end the process.
template <typename T>
constexpr T not_zero(T divisor) {
  return divisor != 0 ? divisor : throw InternalError("a division by 0");
}

/// \p a / \p b rounded up, for \p a >= 0 and \p b > 0: how many groups of \p b hold \p a things.
template <std::integral A, std::integral B>
constexpr std::common_type_t<A, B> ceil_div(A a, B b) {
  using Result = std::common_type_t<A, B>;
  const auto dividend = static_cast<Result>(a), divisor = not_zero(static_cast<Result>(b));
  return static_cast<Result>(dividend / divisor + (dividend % divisor > 0 ? 1 : 0));
}

/// \p a / \p b rounded down, for \p b != 0 and a quotient that fits.
template <typename T>
constexpr T floor_div(T a, T b) {
  return a / not_zero(b) - (a % b != 0 && (a % b < 0) != (b < 0) ? 1 : 0);
}

/// The least multiple of \p b that is not less than \p a.
template <std::integral A, std::integral B>
constexpr std::common_type_t<A, B> round_up(A a, B b) {
  return ceil_div(a, b) * static_cast<std::common_type_t<A, B>>(b);
}

}  // namespace tc
