#include "tc/halide_bridge/math/vector_wide.h"

namespace tc::halide_bridge::line::wide {
namespace {

/// From here on Stirling's series is used.
constexpr double asymptotic = 6;

/// An argument near 2, 2 + d, and p such that lgamma(x) = lgamma(2 + d) + log p, or - log p where x is below 5/4.
struct Shifted {
  Vec d, p;
};

/// For 0 <= x < asymptotic. Near the zero at 1, where d = x - 1, it is exact.
Shifted shifted(const Vec& x) {
  Vec p = x.number(1), y = x;
  for (double step = 2.25; step < asymptotic; ++step) {
    Vec above = y > 2.25, lower = y - 1;
    p = select(above, p * lower, p);
    y = select(above, lower, y);
  }
  Vec below = x < 1.25, tiny = x < 0.25;
  return {select(tiny, x, select(below, x - 1, y - 2)), select(tiny, fma(x, x, x), select(below, x, p))};
}

/// lgamma of x >= 0 or NaN.
Vec positive(const Vec& x, Accuracy accuracy) {
  Vec is_large = !(x < asymptotic);
  auto [d, p] = shifted(select(is_large, 2, x));
  Vec logarithm = log(select(is_large, x, p), accuracy);
  Vec inverse = 1 / select(is_large, x, asymptotic);
  Vec series = fma(inverse, polynomial(Polynomial::Stirling, inverse * inverse, accuracy), 0.4189385332046727);
  Vec far = fma(x - 0.5, logarithm - 1, series);
  Vec near = fma(d * (d + 1), polynomial(Polynomial::Gamma, d, accuracy), select(x < 1.25, -logarithm, logarithm));
  return select(is_large, far, near);
}

/// log(pi / |sin(pi a)|) for a >= 0; for a so small that sin(pi a) may be denormal, -log(a).
Vec reflected(const Vec& a, Accuracy accuracy) {
  Vec tiny = a < 1e-20;
  Vec sine = select(tiny, a, magnitude(sinpi(a, accuracy)));
  return select(tiny, 0, a.number(1.1447298858494002)) - log(sine, accuracy);
}

}  // namespace

Vec lgamma(const Vec& x, Accuracy accuracy) {
  Vec a = magnitude(x), negative = x < 0;
  Vec value = positive(select(negative, a + 1, a), accuracy);
  Vec result = where_any(negative, value, {a, value},
                         [accuracy](const std::vector<Vec>& args) { return reflected(args[0], accuracy) - args[1]; });
  return select(value == infinity, infinity, result);
}

}  // namespace tc::halide_bridge::line::wide
