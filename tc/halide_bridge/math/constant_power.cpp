#include "tc/halide_bridge/math/constant_power.h"

#include <cmath>

namespace tc::halide_bridge::line {
namespace {

constexpr double largest = 32;

/// high + low, low below the last place of high; without it, high is all there is, or exact enough.
struct Sum {
  Vec high;
  std::optional<Vec> low = {};
};

/// \p x where that is finite, else 0: what is below the last place of an infinite value.
Vec if_finite(const Vec& x) { return select(magnitude(x) < infinity, x, 0); }

/// a b, with what is below its last place if \p exactly.
Sum product(const Sum& a, const Sum& b, bool exactly) {
  if (!exactly) return {a.high * b.high};
  auto [high, low] = exact_product(a.high, b.high);
  if (a.low) low = fma(*a.low, b.high, low);
  if (b.low) low = fma(a.high, *b.low, low);
  return {high, if_finite(low)};
}

/// x^n for n >= 1, by squares.
Sum whole_power(Sum x, int n, bool exactly) {
  std::optional<Sum> result;
  for (;; x = product(x, x, exactly)) {
    if (n % 2 == 1) result = result ? product(*result, x, exactly) : x;
    n /= 2;
    if (n == 0) return *result;
  }
}

Sum inverse(const Vec& x, bool exactly) {
  Vec high = 1 / x;
  if (!exactly) return {high};
  return {high, if_finite(fma(-high, x, 1) * high)};
}

/// The root of \p x; \p x_inverse is 1/x.
Sum root(const Sum& x, const Vec& x_inverse) {
  Vec high = square_root(x.high);
  if (!x.low) return {high};
  return {high, if_finite((fma(-high, high, x.high) + *x.low) * (0.5 * high * x_inverse))};
}

/// What x^y is a power of for a y that is not whole: NaN for negative numbers, none of the signs of -0 and -infinity.
Vec without_sign(const Vec& x) { return select((x < 0) & (x > -infinity), not_a_number, magnitude(x)); }

/// x^y, of float64 values; \p exactly: to float64, else to float32.
Vec by_products(const Vec& x, double y, bool exactly) {
  const double size = std::fabs(y);
  const int whole = static_cast<int>(size);
  const bool is_half = size != whole;
  const Vec base = is_half ? without_sign(x) : x;
  if (is_half && whole == 0) return 1 / square_root(base);
  const Sum factor = y < 0 ? inverse(base, exactly) : Sum{base};
  Sum result = whole_power(factor, whole, exactly);
  if (is_half) result = product(result, root(factor, base), exactly);
  return result.low ? copysign(result.high + *result.low, result.high) : result.high;  // -0 stays
}

}  // namespace

std::optional<Vec> constant_power(const Vec& x, double y) {
  if (!(std::fabs(y) <= largest) || std::trunc(2 * y) != 2 * y) return std::nullopt;
  if (y == 0) return x.number(1);
  if (y == 1) return x;
  if (y == 2) return x * x;
  if (y == -1) return 1 / x;
  if (y == 0.5) return square_root(without_sign(x));
  return x.is_double() ? by_products(x, y, true) : by_products(x.as_float(64), y, false).as_float(32);
}

}  // namespace tc::halide_bridge::line
