#include "tc/halide_bridge/math/vector_functions.h"

namespace tc::halide_bridge::line {
namespace {

/// x = 2^e (1 + m), 1 + m in [sqrt(1/2), sqrt(2)).
struct Split {
  Vec m, e;
};

/// \p x is positive and finite.
Split split(const Vec& x) {
  Vec tiny = x < 1.17549435e-38;
  Vec shifted = select(tiny, x * 8388608, x).bits() - x.integer(0x3f3504f3);
  Vec mantissa = ((shifted & x.integer(0x007fffff)) + x.integer(0x3f3504f3)).from_bits();
  Vec e = (shifted >> 23).as_float(32);
  return {mantissa - 1, select(tiny, e - 23, e)};
}

/// log(1 + m) - m for m from sqrt(1/2) - 1 to sqrt(2) - 1.
Vec logarithm_tail(const Vec& m) {
  Vec p = polynomial({6.9725186339e-02, -1.1481212059e-01, 1.1685784721e-01, -1.2425523360e-01, 1.4249007241e-01,
                      -1.6667807133e-01, 2.0000717213e-01, -2.4999996925e-01, 3.3333331174e-01},
                     m);
  Vec square = m * m;
  return fma(square, -0.5, p * (square * m));
}

/// \p value for positive finite x; the logarithm of any other.
Vec for_logarithm(const Vec& x, const Vec& value) {
  Vec finite = select(x < infinity, value, x);
  Vec positive = select(x > 0, finite, not_a_number);
  return select(is_nan(x), x, select(x == 0, -infinity, positive));
}

/// log(1 + m) as a sum of two.
Pair long_logarithm(const Vec& m) { return exact_sum_ordered(m, logarithm_tail(m)); }

}  // namespace

/// The exponent apart, so that powers of two are exact.
Vec log2(const Vec& x) {
  auto [m, e] = split(x);
  auto [high, low] = long_logarithm(m);
  Vec rest = fma(low, 1.44269502162933349609375, high * 1.92596299112661746887e-8);
  return for_logarithm(x, e + fma(high, 1.44269502162933349609375, rest));
}

/// log10(2) in two parts, of which the first has so few bits that its product with the exponent is exact.
Vec log10(const Vec& x) {
  auto [m, e] = split(x);
  auto [high, low] = long_logarithm(m);
  Vec rest = fma(low, 0.4342944920063018798828125, fma(high, -1.0103050052231683e-8, e * 4.605038981195214e-06));
  return for_logarithm(x, fma(e, 0.301025390625, fma(high, 0.4342944920063018798828125, rest)));
}

Vec log(const Vec& x) {
  auto [m, e] = split(x);
  Vec tail = fma(e, -2.12194440054690583e-4, logarithm_tail(m));
  return for_logarithm(x, fma(e, 0.693359375, m + tail));
}

namespace {

/// log(1 + e) for 0 <= e <= 1. The tail of a small e does not count, and its cube may be too small for a normal number.
Vec log_of_one_plus(const Vec& e) {
  Vec upper = e > 0.41421356;
  Vec m = select(upper, fma(e, 0.5, -0.5), e);
  Vec k = select(upper, e.number(1), 0);
  Vec tail = logarithm_tail(select(e < 1e-9, 0, m));
  return fma(k, 0.693359375, m + fma(k, -2.12194440054690583e-4, tail));
}

}  // namespace

Vec softplus(const Vec& x) {
  auto [y, n, low] = scaled_exponential(at_least(falling_side(x, -40), least_exponent));
  return unless_small(select(x < 0, 0, x) + log_of_one_plus(scale(y, normal_exponent(n))), y, n);
}

}  // namespace tc::halide_bridge::line
