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

/// a normcdf(-a) for 0 <= a <= 15: exp(-a^2/2) w times a polynomial of u, w = a/(a + 4), u = 2 w - 1; all three with
/// what they round off.
Vec normal_tail(const Vec& a) {
  Pair sum = exact_sum(a, a.number(4)), square = exact_product(a, a);
  Vec inverse = 1 / sum.high, w = a * inverse;
  Vec w_low = (fma(-w, sum.high, a) - w * sum.low) * inverse;
  Vec u = fma(w_low, 2, fma(w, 2, -1));
  Vec slope = polynomial({-1.2553459964692592621e-4, 1.9145113765262067318e-4, 1.5704692341387271881e-3,
                          -3.52165661752223968506e-3, -7.5276638381183147430e-3, 6.04062564671039581299e-2,
                          -0.18652282655239105225, 0.387136638164520263672, -0.607896625995635986328},
                         u);
  Vec p = fma(slope, u, 0.75528514385223388672), p_low = fma(slope, u, 0.75528514385223388672 - p);
  auto [y, n, y_low] = scaled_exponential(square.high * -0.5, square.low * -0.5);
  Pair product = exact_product(w, y);
  Vec low = fma(w, y_low, fma(w_low, y, product.low));
  return scale(fma(product.high, p, fma(product.high, p_low, low * p)), n);
}

}  // namespace

/// x normcdf(x): a series near 0, and max(x, 0) less the tail of |x|; NaN for -infinity.
Vec gelu(const Vec& x) {
  Vec a = at_most(magnitude(x), 15), z = x * x;
  Vec ratio = polynomial({-8.6949485194054432213e-6, 1.16363652486686634e-4, -1.189229195006190730499e-3,
                          9.9746026098728179931640625e-3, -6.6490590572357177734375e-2, 0.398942291736602783203125},
                         z);
  Vec near = x * fma(x, ratio, 0.5);
  return select(a < 0.875, near, select(x < 0, x * 0, x) - normal_tail(a));
}

}  // namespace tc::halide_bridge::line
