#include "tc/halide_bridge/math/vector_wide.h"

namespace tc::halide_bridge::line::wide {
namespace {

/// exp(t^2) erfc(t) for t + t_low from 1/2 to 28 (11 for results in float32).
Vec scaled_complement(const Vec& t, const Vec& t_low, Accuracy accuracy) {
  Vec four = t.number(4);
  if (accuracy == Accuracy::Float32) {
    Vec inverse = 1 / (t + four);
    return polynomial(Polynomial::Erfcx, (t - four) * inverse, accuracy) * inverse;
  }
  Pair above = exact_sum(t, four);
  Vec inverse = 1 / above.high;
  Vec low = inverse * (fma(-above.high, inverse, 1) - (above.low + t_low) * inverse);
  Vec below = t - four;
  Vec u = fma(below, inverse, fma(below, low, t_low * inverse));
  Vec p = polynomial(Polynomial::Erfcx, u, accuracy);
  return fma(p, inverse, p * low);
}

/// erf(t) for 0 <= t <= 1.
Vec small_error_function(const Vec& t, Accuracy accuracy) { return t * polynomial(Polynomial::Erf, t * t, accuracy); }

/// 1 - erf(t) for -1 <= t <= 1. The multiply-add is written out: left to the compiler, vectors and scalars differ.
Vec small_complement(const Vec& t, Accuracy accuracy) {
  return fma(-t, polynomial(Polynomial::Erf, t * t, accuracy), 1);
}

/// e^-(square + rest) times \p factor, which is at most 40; 0 where that is 0 in the type of the result.
Vec falling(const Vec& square, const Vec& rest, const Vec& factor, Accuracy accuracy) {
  auto [r, n] = reduce(-square, accuracy);
  Vec y = polynomial(Polynomial::Exp, r - rest, accuracy) * factor;
  return accuracy == Accuracy::Float32 ? scale(select(square > 110, 0, y), n) : scale_to_denormal(y, n);
}

/// erfc(t) for t >= 1/2, t^2 = square + rest.
Vec complement(const Vec& t, const Vec& square, const Vec& rest, Accuracy accuracy) {
  return falling(square, rest, scaled_complement(t, t.number(0), accuracy), accuracy);
}

/// normcdf(-a) \p factor for 0 <= a <= 40.
Vec lower_tail(const Vec& a, const Vec& factor, Accuracy accuracy) {
  const double root_half = 0.7071067811865476, root_half_low = -4.833646656726457e-17;
  Vec t = a * root_half, t_low = fma(a, root_half_low, fma(a, root_half, -t));
  Pair square = exact_product(a, a);
  Vec far =
      falling(square.high * 0.5, square.low * 0.5, scaled_complement(t, t_low, accuracy) * (factor * 0.5), accuracy);
  return select(t < 0.5, fma(small_error_function(t, accuracy), -0.5, 0.5) * factor, far);
}

/// exp(t^2) erfc(t) for large t: its series in 1/t^2.
Vec asymptotic_complement(const Vec& t) {
  Vec inverse = 1 / t;
  Vec series = halide_bridge::polynomial({162.421875, -29.53125, 6.5625, -1.875, 0.75, -0.5, 1}, inverse * inverse);
  return series * (inverse * 0.5641895835477563);
}

}  // namespace

Vec erf(const Vec& x, Accuracy accuracy) {
  Vec a = at_most(magnitude(x), 6.5);
  Pair square = exact_product(a, a);
  Vec far = 1 - complement(a, square.high, square.low, accuracy);
  return copysign(select(a < 0.75, small_error_function(a, accuracy), far), x);
}

Vec erfc(const Vec& x, Accuracy accuracy) {
  Vec a = at_most(magnitude(x), 28);
  Pair square = exact_product(a, a);
  Vec far = complement(a, square.high, square.low, accuracy);
  return select(a < 0.5, small_complement(copysign(a, x), accuracy), select(x < 0, 1 + (1 - far), far));
}

Vec erfcx(const Vec& x, Accuracy accuracy) {
  Vec a = magnitude(x), bounded = at_most(a, 27);
  Pair square = exact_product(bounded, bounded);
  auto [r, n] = reduce(square.high, accuracy);
  Vec growth = scale(polynomial(Polynomial::Exp, r + square.low, accuracy), n);
  Vec near = growth * small_complement(copysign(at_most(a, 1), x), accuracy);
  double last = accuracy == Accuracy::Float32 ? 11 : 27;
  Vec far = select(a > last, asymptotic_complement(a), scaled_complement(at_most(a, last), a.number(0), accuracy));
  return select(a < 0.5, near, select(x < 0, growth + growth - far, far));
}

Vec normcdf(const Vec& x, Accuracy accuracy) {
  Vec tail = lower_tail(at_most(magnitude(x), 40), x.number(1), accuracy);
  return select(x < 0, tail, 1 - tail);
}

/// max(x, 0) - |x| normcdf(-|x|); NaN for -infinity.
Vec gelu(const Vec& x, Accuracy accuracy) {
  Vec a = at_most(magnitude(x), 40);
  return select(x < 0, x * 0, x) - lower_tail(a, a, accuracy);
}

}  // namespace tc::halide_bridge::line::wide
