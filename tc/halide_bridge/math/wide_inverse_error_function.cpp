#include "tc/halide_bridge/math/vector_wide.h"

namespace tc::halide_bridge::line::wide {

/// Near 0 a polynomial of x^2. Elsewhere, with the tail c = 1 - |x|, which is exact, one of s = sqrt(-log c), of which
/// erfinv grows about as fast: an error of the logarithm counts by half, and less.
Vec erfinv(const Vec& x, Accuracy accuracy) {
  Vec a = magnitude(x), centre = a < 0.75;
  Vec near = x * polynomial(Polynomial::Erfinv, select(centre, x * x, 0), accuracy);
  Vec s = square_root(-log(select(a < 1, 1 - a, 0.5), accuracy));
  Vec far = s * polynomial(Polynomial::ErfinvTail, (s - 2.75) / (s + 2.75), accuracy);
  Vec edge = select(a == 1, infinity, x.number(not_a_number));
  return select(centre, near, copysign(select(a < 1, far, edge), x));
}

}  // namespace tc::halide_bridge::line::wide
