#include "tc/halide_bridge/math/vector_wide.h"

namespace tc::halide_bridge::line::wide {
namespace {

/// From e^-754 = y 2^-1088 on, results are 0 (unless_small).
constexpr double least_exponent = -754;

Vec whole(const Vec& x, double factor) { return fma(x, factor, magic) - magic; }

/// exp(r) - 1 = r + r^2 q(r).
Vec expm1_of_reduced(const Vec& r, Accuracy accuracy) {
  auto c = coefficients(Polynomial::Exp, accuracy);
  c.resize(c.size() - 2);
  return fma(r * r, halide_bridge::polynomial(c, r), r);
}

/// e^a / 2 for 0 <= a.
Vec half_exp(const Vec& a, Accuracy accuracy) {
  auto [r, n] = reduce(at_most(a, 712), accuracy);
  return scale(polynomial(Polynomial::Exp, r, accuracy), n - 1);
}

}  // namespace

Vec polynomial(Polynomial which, const Vec& x, Accuracy accuracy) {
  return halide_bridge::polynomial(coefficients(which, accuracy), x);
}

Reduced reduce(const Vec& x, Accuracy accuracy) {
  Vec n = whole(x, 1.4426950408889634);
  Vec r = fma(n, -log2_high, x);
  return {accuracy == Accuracy::Float32 ? r : fma(n, -log2_low, r), n};
}

Vec exp(const Vec& x, Accuracy accuracy) {
  auto [r, n] = reduce(at_most(at_least(x, least_exponent), 710), accuracy);
  return scale_to_denormal(polynomial(Polynomial::Exp, r, accuracy), n);
}

Vec exp2(const Vec& x, Accuracy accuracy) {
  Vec bounded = at_most(at_least(x, -1087), 1025), n = whole(bounded, 1);
  return scale_to_denormal(polynomial(Polynomial::Exp, (bounded - n) * log2_high, accuracy), n);
}

Vec exp10(const Vec& x, Accuracy accuracy) {
  Vec bounded = at_most(at_least(x, -328), 309), n = whole(bounded, 3.321928094887362);
  Vec r = fma(n, 2.8037281277851704e-18, fma(n, -0.3010299956639812, bounded));
  Vec y = polynomial(Polynomial::Exp, fma(r, 2.302585092994046, r * -2.1707562233822494e-16), accuracy);
  return scale_to_denormal(y, n);
}

/// 2^n (1 + p) - 1, in halves so that 2^n does not overflow.
Vec expm1(const Vec& x, Accuracy accuracy) {
  auto [r, n] = reduce(at_most(at_least(x, -40), 710), accuracy);
  Vec half = scale(x.number(1), n - 1);
  return copysign(fma(half, expm1_of_reduced(r, accuracy), half - 0.5) * 2, x);
}

Vec sinh(const Vec& x, Accuracy accuracy) {
  Vec a = magnitude(x), z = a * a;
  Vec small = fma(a * z, polynomial(Polynomial::Sinh, at_most(z, 1), accuracy), a);
  Vec e = half_exp(a, accuracy);
  return copysign(select(a < 1, small, e - 0.25 / e), x);
}

Vec cosh(const Vec& x, Accuracy accuracy) {
  Vec e = half_exp(magnitude(x), accuracy);
  return e + 0.25 / e;
}

Vec tanh(const Vec& x, Accuracy accuracy) {
  Vec a = at_most(magnitude(x), 20);
  Vec u = expm1(a + a, accuracy);
  return copysign(u / (u + 2), x);
}

Vec sigmoid(const Vec& x, Accuracy accuracy) {
  auto [r, n] = reduce(at_least(falling_side(x, -60), least_exponent), accuracy);
  Vec y = polynomial(Polynomial::Exp, r, accuracy), e = scale(y, normal_exponent(n));
  return unless_small(select(x < 0, e, 1) / (1 + e), y, n);
}

/// For negative x the numerator x e^x is rounded after the product, and a NaN for an infinite x.
Vec silu(const Vec& x, Accuracy accuracy) {
  Vec side = falling_side(x, -60), low = at_least(side, -760);
  auto [r, n] = reduce(low, accuracy);
  Vec y = polynomial(Polynomial::Exp, r, accuracy), normal = normal_exponent(n);
  Vec q = select(x < 0, scale(low * y, normal), x) / (1 + scale(y, normal));
  q = -unless_small(-q, -(low * y), n);
  return select(x < 0, fma(x, 0, q), q);
}

Vec softplus(const Vec& x, Accuracy accuracy) {
  auto [r, n] = reduce(at_least(falling_side(x, -60), least_exponent), accuracy);
  Vec y = polynomial(Polynomial::Exp, r, accuracy);
  return unless_small(select(x < 0, 0, x) + log1p(scale(y, normal_exponent(n)), accuracy), y, n);
}

}  // namespace tc::halide_bridge::line::wide
