#include "tc/halide_bridge/math/vector_functions.h"

namespace tc::halide_bridge::line {
namespace {

/// erf(a)/a - 1 for 0 <= a <= 0.9375, z = a^2.
Vec error_function_ratio(const Vec& z) {
  return polynomial({8.2858265487e-05, -8.1229608878e-04, 5.1993181981e-03, -2.6858722695e-02, 1.1283683699e-01,
                     -3.7612633003e-01, 1.2837916657e-01},
                    z);
}

}  // namespace

Vec erf(const Vec& x) {
  Vec a = at_most(magnitude(x), 4);
  Vec small = fma(error_function_ratio(a * a), a, a);
  Vec w = polynomial({-1.0745723048e-06, 3.4909500127e-05, -5.0279886315e-04, 4.3201412357e-03, -2.5178633629e-02,
                      1.0790973747e-01, 6.3410819064e-01, 1.1289149530e+00},
                     a);
  Vec large = 1 - exp_of_negative(-(a * w));
  return copysign(select(a > 0.9375, large, small), x);
}

namespace {

/// e^(-square/2) for 0 <= square <= 225: a polynomial of s with square = s - 2 n log 2.
Scaled exponential_of_half(const Pair& square) {
  constexpr double magic = 12582912;  // added to a number it moves the whole part to the low bits
  Vec n = fma(square.high, -0.7213475204444817, magic) - magic;
  Vec s = fma(n, 1.38671875, square.high) + fma(n, -4.2438888010938114e-4, square.low);
  Vec slope = polynomial({2.1476502297446132e-5, -2.6152952341362834e-4, 2.604353241622448e-3, -2.0833147689700127e-2,
                          0.12499997019767761, -0.5},
                         s);
  Vec y = fma(slope, s, 1);
  return {y, n, fma(slope, s, 1 - y)};
}

/// a normcdf(-a) for 0 <= a <= 15, and 0 beyond. With Mills' ratio R(a) = exp(a^2/2) normcdf(-a), 1/R(a) - sqrt(2 pi) a is a quotient N/M of
/// polynomials with positive coefficients, so that a R(a) = p/d for p = a M and d = N + sqrt(2 pi) p. The rounding of p mostly
/// cancels because p is in both; M = 1 + m a and N = 2 + u are added up last. The quotient is corrected by its rest and by that of d.
Vec normal_tail(const Vec& distance) {
  constexpr double root = 2.5066282746310002;
  Vec a = at_most(distance, 15);
  Pair square = exact_product(a, a);
  auto [y, n, y_low] = exponential_of_half(square);
  Vec m = polynomial({0.00247625508372, 0.0296987854555, 0.17022465899, 0.564711083294, 1.08435633586}, a);
  Vec u = polynomial({0.00620768840334, 0.0744120198989, 0.414967005855, 1.25785344336}, a) * a;
  Vec p = fma(square.high, m, a);
  Pair product = exact_product(p, p.number(root)), above = exact_sum_ordered(product.high, u);
  Pair d = exact_sum_ordered(p.number(2), above.high);  // d - 2 is exact on both sides of 4
  Vec d_low = d.low + (above.low + product.low);
  Vec inverse = 1 / d.high, q = p * inverse;
  Vec rest = fma(-q, d_low, fma(-q, d.high, p)) * inverse;
  return scale_to_denormal(fma(q, y, fma(q, y_low, rest * y)), n);
}

}  // namespace

/// x normcdf(x): max(x, 0) less the tail of |x|; NaN for -infinity.
Vec gelu(const Vec& x) { return select(x < 0, x * 0, x) - normal_tail(-falling_side(x, -8)); }

}  // namespace tc::halide_bridge::line
