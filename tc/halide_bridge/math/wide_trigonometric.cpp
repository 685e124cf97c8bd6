#include "tc/halide_bridge/math/vector_wide.h"

namespace tc::halide_bridge::line::wide {
namespace {

constexpr double two_over_pi = 0.6366197723675814;
constexpr double half_pi_high = 1.5707963267948966, half_pi_low = 6.123233995736766e-17,
                 half_pi_rest = -1.4973849048591698e-33;
/// Beyond it the whole number of quarter turns is too large for the products of reduce_quarters.
constexpr double large = 1073741824;

/// x = q pi/2 + r + low with |r| <= pi/4 and q's low bits in \p quadrant.
struct Quarters {
  Vec r, low, quadrant;
};

Quarters reduce_quarters(const Vec& x, Accuracy accuracy) {
  Vec shifted = fma(x, two_over_pi, magic), n = shifted - magic;
  Vec first = fma(n, -half_pi_high, x);
  if (accuracy == Accuracy::Float32) return {fma(n, -half_pi_low, first), x.number(0), shifted.bits()};
  Pair product = exact_product(n, x.number(-half_pi_low));
  Pair sum = exact_sum(first, product.high);
  return {sum.high, sum.low + fma(n, -half_pi_rest, product.low), shifted.bits()};
}

/// The same for any float32 value, with the quadrant in the last two bits of r: 2/pi in parts of 28 bits, whose
/// products with x are exact and lose what is a multiple of 4.
Vec reduce_large(const Vec& x) {
  const double parts[] = {0.6366197690367699,     3.3308114877339534e-09, -1.1601777708305532e-17,
                          -2.643052809556141e-26, 1.6682867657019525e-34, 1.158871328288855e-43,
                          7.05395927397254e-52};
  Vec high = x.number(0), low = high;
  for (double part : parts) {
    Vec product = x * part;
    Pair sum = exact_sum(high, fma(nearest(product * 0.25), -4, product));
    high = sum.high;
    low = low + sum.low;
  }
  Vec shifted = high + magic;
  Vec r = ((high - (shifted - magic)) + low) * half_pi_high;
  return ((r.bits() & x.integer(~std::int64_t{3})) | (shifted.bits() & x.integer(3))).from_bits();
}

/// Quarters of any float32 value.
Quarters reduce_float32(const Vec& x) {
  Quarters near = reduce_quarters(x, Accuracy::Float32);
  Vec packed = ((near.r.bits() & x.integer(~std::int64_t{3})) | (near.quadrant & x.integer(3))).from_bits();
  Vec r =
      where_any(magnitude(x) > large, packed, {x}, [](const std::vector<Vec>& args) { return reduce_large(args[0]); });
  return {r, x.number(0), r.bits()};
}

struct SineAndCosine {
  Vec sine, cosine;
};

/// Of r + low.
SineAndCosine kernels(const Vec& r, const Vec& low, Accuracy accuracy) {
  Vec z = r * r;
  Vec s = polynomial(Polynomial::Sin, z, accuracy), c = polynomial(Polynomial::Cos, z, accuracy);
  if (accuracy == Accuracy::Float32) return {fma(r * z, s, r), fma(z * z, c, fma(z, -0.5, 1))};
  Vec sine = r + fma(r * z, s, fma(z * -0.5, low, low));
  Vec half = z * 0.5, one = 1 - half;
  return {sine, one + (((1 - one) - half) + fma(z * z, c, -(r * low)))};
}

/// \p value, or x where x is a zero.
Vec zero_as(const Vec& value, const Vec& x) { return select(x == 0, x, value); }

/// The sine of q + turn quarter turns and r.
Vec sine_of(const Quarters& quarters, int turn, Accuracy accuracy) {
  auto [sine, cosine] = kernels(quarters.r, quarters.low, accuracy);
  Vec q = turn == 0 ? quarters.quadrant : quarters.quadrant + quarters.quadrant.integer(turn);
  Vec odd = (q & q.integer(1)) == q.integer(1);
  return flip_sign(select(odd, cosine, sine), q, 62);
}

Vec tangent_of(const Quarters& quarters, Accuracy accuracy) {
  auto [sine, cosine] = kernels(quarters.r, quarters.low, accuracy);
  Vec q = quarters.quadrant, odd = (q & q.integer(1)) == q.integer(1);
  return flip_sign(select(odd, cosine, sine) / select(odd, sine, cosine), q, 63);
}

/// \p value of float64 numbers; of large ones that of the C library, one by one.
Vec or_call(const char* name, const Vec& x, const Vec& value) {
  auto call = [name](const std::vector<Vec>& args) { return Vec::call(name, args); };
  return where_any(magnitude(x) > large, value, {x}, call);
}

Quarters reduced(const Vec& x, Accuracy accuracy) {
  return accuracy == Accuracy::Float32 ? reduce_float32(x) : reduce_quarters(x, accuracy);
}

/// Quarters of x pi: x = n/2 + f exactly. Large x are even.
Quarters half_turns(const Vec& x, Accuracy accuracy) {
  Vec bounded = select(magnitude(x) < 9007199254740992.0, x, x * 0);
  Vec n = nearest(bounded + bounded), f = fma(n, -0.5, bounded);
  Vec quadrant = (fma(nearest(n * 0.25), -4, n) + magic).bits();
  const double pi_high = 3.141592653589793, pi_low = 1.2246467991473532e-16;
  if (accuracy == Accuracy::Float32) return {f * pi_high, x.number(0), quadrant};
  Pair r = exact_product(f, x.number(pi_high));
  return {r.high, fma(f, pi_low, r.low), quadrant};
}

/// atan(t) for 0 <= t <= 1.
Vec arc_tangent(const Vec& t, Accuracy accuracy) {
  Vec z = t * t;
  return fma(t * z, polynomial(Polynomial::Atan, z, accuracy), t);
}

/// The arc sine of |x| up to 1/2, of sqrt((1 - |x|)/2) above.
struct ArcSine {
  Vec value, above;
};
ArcSine arc_sine(const Vec& x, Accuracy accuracy) {
  Vec a = magnitude(x), above = a > 0.5;
  Vec z = select(above, fma(a, -0.5, 0.5), a * a), s = select(above, square_root(z), a);
  return {fma(s * z, polynomial(Polynomial::Asin, z, accuracy), s), above};
}

}  // namespace

Vec sin(const Vec& x, Accuracy accuracy) {
  Vec value = zero_as(sine_of(reduced(x, accuracy), 0, accuracy), x);
  return accuracy == Accuracy::Float32 ? value : or_call("sin", x, value);
}

Vec cos(const Vec& x, Accuracy accuracy) {
  Vec value = sine_of(reduced(x, accuracy), 1, accuracy);
  return accuracy == Accuracy::Float32 ? value : or_call("cos", x, value);
}

Vec tan(const Vec& x, Accuracy accuracy) {
  Vec value = zero_as(tangent_of(reduced(x, accuracy), accuracy), x);
  return accuracy == Accuracy::Float32 ? value : or_call("tan", x, value);
}

Vec sinpi(const Vec& x, Accuracy accuracy) { return zero_as(sine_of(half_turns(x, accuracy), 0, accuracy), x); }
Vec cospi(const Vec& x, Accuracy accuracy) { return sine_of(half_turns(x, accuracy), 1, accuracy); }

Vec asin(const Vec& x, Accuracy accuracy) {
  auto [value, above] = arc_sine(x, accuracy);
  return copysign(select(above, half_pi_high - (value + value - half_pi_low), value), x);
}

Vec acos(const Vec& x, Accuracy accuracy) {
  auto [value, above] = arc_sine(x, accuracy);
  Vec twice = value + value;
  Vec outer = select(x < 0, 2 * half_pi_high - (twice - 2 * half_pi_low), twice);
  return select(above, outer, half_pi_high - (copysign(value, x) - half_pi_low));
}

Vec atan(const Vec& x, Accuracy accuracy) {
  Vec a = magnitude(x), above = a > 1;
  Vec value = arc_tangent(select(above, 1 / a, a), accuracy);
  return copysign(select(above, half_pi_high - (value - half_pi_low), value), x);
}

Vec atan2(const Vec& y, const Vec& x, Accuracy accuracy) {
  Vec b = magnitude(y), a = magnitude(x), steep = b > a;
  Vec small = select(steep, a, b), great = select(steep, b, a);
  Vec equal = select(great == 0, 0, x.number(1));
  Vec value = arc_tangent(select(small == great, equal, small / great), accuracy);
  Vec upper = select(steep, half_pi_high - (value - half_pi_low), value);
  Vec behind = 2 * half_pi_high - (upper - 2 * half_pi_low);
  Vec angle = copysign(select(copysign(x.number(1), x) < 0, behind, upper), y);
  return select(is_nan(x) | is_nan(y), x + y, angle);
}

}  // namespace tc::halide_bridge::line::wide
