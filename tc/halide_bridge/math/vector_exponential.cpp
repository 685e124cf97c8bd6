#include "tc/halide_bridge/math/vector_functions.h"

namespace tc::halide_bridge::line {
namespace {

/// Added to a number it moves the whole part to the low bits.
constexpr double magic_f32 = 12582912;

/// (a + a_low) / (1 + e) for 0 <= e <= 1, with the low bits of 1 + e.
Vec over_one_plus(const Vec& a, const Vec& a_low, const Vec& e) {
  Pair sum = exact_sum_ordered(e.number(1), e);
  Vec inverse = 1 / sum.high, q = a * inverse;
  return fma(fma(-q, sum.high, a) + fma(-q, sum.low, a_low), inverse, q);
}

Vec with_bounds(const Vec& x) { return at_most(at_least(x, least_exponent), 89); }

}  // namespace

/// x = n log 2 + r, and a polynomial of r.
Scaled scaled_exponential(const Vec& x) { return scaled_exponential(x, x.number(0)); }

Scaled scaled_exponential(const Vec& x, const Vec& low) {
  Vec n = fma(x, 1.4426950408889634, magic_f32) - magic_f32;
  Vec r = fma(n, 2.12194440054690583e-4, fma(n, -0.693359375, x));
  if (!Halide::Internal::is_const_zero(low.expr())) r = r + low;
  Vec slope = polynomial({1.37449614703655243e-3, 8.36894474923610687e-3, 4.16696518659591675e-2, 0.166665181517601013,
                          0.499999880790710449, 1},
                         r);
  Vec y = fma(slope, r, 1);
  return {y, n, fma(slope, r, 1 - y)};
}

Vec exp(const Vec& x) {
  auto [y, n, low] = scaled_exponential(with_bounds(x));
  return scale_to_denormal(y, n);
}

Vec exp_of_negative(const Vec& x) {
  auto [y, n, low] = scaled_exponential(at_least(x, least_exponent));
  return scale_to_denormal(y, n);
}

Vec exp2(const Vec& x) {
  Vec bounded = at_most(at_least(x, -162), 129), n = (bounded + magic_f32) - magic_f32;
  Vec y = polynomial(
      {1.524011604487895965576171875e-4, 1.33913080208003520965576171875e-3, 9.618836455047130584716796875e-3,
       5.55035881698131561279296875e-2, 0.240226447582244873046875, 0.693147182464599609375, 1},
      bounded - n);
  return scale_to_denormal(y, n);
}

/// 10^r 2^n with x = n log10(2) + r, whose first part has so few bits that its product with n is exact.
Vec exp10(const Vec& x) {
  Vec bounded = at_most(at_least(x, -49), 39), n = fma(bounded, 3.321928094887362, magic_f32) - magic_f32;
  Vec r = fma(n, -4.6050389811952137e-6, fma(n, -0.301025390625, bounded));
  Vec y = polynomial({0.2053562104701995849609375, 0.541837155818939208984375, 1.17132365703582763671875,
                      2.0346558094024658203125, 2.65094852447509765625, 2.302585124969482421875, 1},
                     r);
  return scale_to_denormal(y, n);
}

/// 1/(1 + e^-x), from e^-|x|, which does not overflow; for negative x, one below 2^-40 is the result, and its square may be denormal.
Vec sigmoid(const Vec& x) {
  auto [y, n, low] = scaled_exponential(at_least(falling_side(x, -20), least_exponent));
  Vec e = scale(y, at_least(n, -40));
  return unless_small(over_one_plus(select(x < 0, e, 1), x.number(0), e), y, n, -40);
}

/// x/(1 + e^-x); for negative x the numerator is x e^x, scaled after the quotient; a NaN for -infinity.
Vec silu(const Vec& x) {
  Vec side = falling_side(x, -40), bounded = at_least(side, -125), negative = x < 0;
  auto [y, n, low] = scaled_exponential(bounded);
  Pair product = exact_product(bounded, y);
  Vec numerator = select(negative, product.high, x), rest = select(negative, fma(bounded, low, product.low), 0);
  Vec normal = normal_exponent(n), q = over_one_plus(numerator, rest, scale(y, normal));
  Vec usual = scale(q, select(negative, normal, 0));
  q = -unless_small(-usual, -q, n);
  return select((x < 88) & !(x == 0), fma(select(negative, x, 0), 0, q), x);
}

Vec tanh(const Vec& x) {
  Vec a = magnitude(x), z = a * a;
  Vec p = polynomial(
      {2.2927448162e-03, -8.3439455158e-03, 2.1768918651e-02, -5.3959259577e-02, 1.3333303557e-01, -3.3333333172e-01},
      z);
  Vec small = fma(p * z, a, a);
  Vec large = 1 - 2 / (1 + exp(a + a));
  return copysign(select(a < 0.625, small, large), x);
}

}  // namespace tc::halide_bridge::line
