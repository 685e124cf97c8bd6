#include "tc/halide_bridge/math/vector_wide.h"

namespace tc::halide_bridge::line::wide {
namespace {

constexpr std::int64_t bits_of_root_half = 0x3fe6a09e667f3bcd, bits_of_one = 0x3ff0000000000000;

/// x = 2^e (1 + f), 1 + f in [sqrt(1/2), sqrt(2)).
struct Split {
  Vec f, e;
};

/// For positive finite x.
Split split(const Vec& x, Accuracy accuracy) {
  bool denormals = accuracy == Accuracy::Float64;
  Vec tiny = x < 2.2250738585072014e-308;
  Vec normal = denormals ? select(tiny, x * 18014398509481984.0, x) : x;
  Vec moved = normal.bits() + x.integer(bits_of_one - bits_of_root_half);
  Vec mantissa = ((moved & x.integer(0x000fffffffffffff)) + x.integer(bits_of_root_half)).from_bits();
  Vec biased = (shift_right_logical(moved, 52) | x.integer(0x4330000000000000)).from_bits() - 4503599627370496.0;
  Vec e = biased - 1023;
  return {mantissa - 1, denormals ? select(tiny, e - 54, e) : e};
}

/// log(1 + f), f from split, plus \p low; the terms below f apart.
Pair log_of_split(const Vec& f, const Vec& low, Accuracy accuracy) {
  if (accuracy == Accuracy::Float32) {
    Vec square = f * f;
    return {f, fma(square, fma(f, polynomial(Polynomial::LogDirect, f, accuracy), -0.5), low)};
  }
  Vec s = f / (2 + f), z = s * s, half = f * f * 0.5;
  Vec tail = fma(s, fma(z, polynomial(Polynomial::Log, z, accuracy), half), low) - half;
  return {f, tail};
}

/// \p value for positive finite x; the logarithm of any other.
Vec for_logarithm(const Vec& x, const Vec& value) {
  Vec finite = select(x < infinity, value, x);
  Vec positive = select(x > 0, finite, not_a_number);
  return select(is_nan(x), x, select(x == 0, -infinity, positive));
}

/// x to log1p where |x| < 2^1000.
Vec log1p_of_finite(const Vec& x, Accuracy accuracy) {
  Pair sum = exact_sum(x.number(1), x);
  auto [f, e] = split(sum.high, accuracy);
  auto [high, low] = log_of_split(f, fma(e, log2_low, sum.low / sum.high), accuracy);
  return fma(e, log2_high, high + low);
}

}  // namespace

Vec log(const Vec& x, Accuracy accuracy) {
  auto [f, e] = split(x, accuracy);
  auto [high, low] = log_of_split(f, e * log2_low, accuracy);
  return for_logarithm(x, fma(e, log2_high, high + low));
}

/// The whole part apart, so that powers of two are exact.
Vec log2(const Vec& x, Accuracy accuracy) {
  auto [f, e] = split(x, accuracy);
  auto [high, low] = log_of_split(f, f.number(0), accuracy);
  Vec sum = high + low, rest = low - (sum - high);
  return for_logarithm(x,
                       e + fma(sum, 1.4426950408889634, fma(sum, 2.0355273740931033e-17, rest * 1.4426950408889634)));
}

Vec log10(const Vec& x, Accuracy accuracy) {
  auto [f, e] = split(x, accuracy);
  auto [high, low] = log_of_split(f, f.number(0), accuracy);
  Vec sum = high + low, rest = low - (sum - high);
  Vec fraction = fma(sum, 1.098319650216765e-17, fma(rest, 0.4342944819032518, e * -2.8037281277851704e-18));
  return for_logarithm(x, fma(e, 0.3010299956639812, fma(sum, 0.4342944819032518, fraction)));
}

Vec log1p(const Vec& x, Accuracy accuracy) {
  Vec value = select(x < infinity, log1p_of_finite(x, accuracy), x);
  Vec inside = select(x > -1, value, not_a_number);
  return copysign(select(is_nan(x), x, select(x == -1, -infinity, inside)), x);
}

Vec asinh(const Vec& x, Accuracy accuracy) {
  Vec a = magnitude(x), z = a * a, huge = a > 268435456;
  Vec argument = select(huge, a - 1, a + z / (1 + square_root(z + 1)));
  return copysign(log1p(argument, accuracy) + select(huge, x.number(log2_high), 0), x);
}

Vec acosh(const Vec& x, Accuracy accuracy) {
  Vec t = x - 1, huge = x > 268435456;
  Vec argument = select(huge, t, t + square_root(fma(t, t, t + t)));
  Vec value = log1p(argument, accuracy) + select(huge, x.number(log2_high), 0);
  return select(x < 1, not_a_number, value);
}

Vec atanh(const Vec& x, Accuracy accuracy) {
  Vec a = magnitude(x);
  return copysign(log1p((a + a) / (1 - a), accuracy) * 0.5, x);
}

namespace {

/// log(x) for positive x as a sum of two, to 2^-65 of it.
Pair long_log(const Vec& x) {
  auto [f, e] = split(x, Accuracy::Float64);
  Pair d = exact_sum(x.number(2), f);
  Vec s = f / d.high;
  Vec s_low = (fma(-s, d.high, f) - s * d.low) / d.high;
  Pair z = exact_product(s, s);
  Vec z_low = fma(s + s, s_low, z.low);
  // 2 s (1 + z/3 + ...): the first term of the series as a sum of two
  Pair first = exact_product(z.high, x.number(0.6666666666666666));
  Vec first_low = fma(z.high, 3.700743415417188e-17, fma(z_low, 0.6666666666666666, first.low));
  Vec rest = z.high * z.high * polynomial(Polynomial::LogTail, z.high, Accuracy::Float64);
  Pair series = exact_sum_ordered(first.high, rest);
  Vec series_low = series.low + first_low;
  Pair cubic = exact_product(s, series.high);
  Vec cubic_low = fma(s, series_low, fma(s_low, series.high, cubic.low));
  Pair twice = exact_sum_ordered(s + s, cubic.high);
  Vec twice_low = twice.low + (s_low + s_low + cubic_low);
  Pair scaled = exact_product(e, x.number(log2_high));
  Pair total = exact_sum(scaled.high, twice.high);
  Vec low = total.low + (twice_low + fma(e, log2_low, scaled.low));
  return exact_sum_ordered(total.high, low);
}

/// e^(y log x) for positive finite x and finite y.
Vec positive_power(const Vec& x, const Vec& y, Accuracy accuracy) {
  if (accuracy == Accuracy::Float32) {
    Vec exponent = y * log(x, accuracy);
    return select(exponent < -104, 0, exp(exponent, accuracy));
  }
  Pair logarithm = long_log(x);
  Pair product = exact_product(logarithm.high, y);
  Vec bounded = at_most(at_least(product.high, -1000), 1000);
  Vec rest = fma(logarithm.low, y, product.low);
  Vec low = select(magnitude(product.high) < 1000, rest, 0);
  auto [r, n] = reduce(bounded, accuracy);
  return scale_to_denormal(polynomial(Polynomial::Exp, r + low, accuracy), n);
}

Vec is_whole(const Vec& y) { return Vec::rounded("trunc", y) == y; }

}  // namespace

/// As C's pow; the sign of a negative x is that of the power where y is odd.
Vec pow(const Vec& x, const Vec& y, Accuracy accuracy) {
  Vec a = magnitude(x), bound = magnitude(y);
  Vec ordinary = (a > 0) & (a < infinity) & (bound < infinity);
  Vec one = x.number(1);
  Vec value = positive_power(select(ordinary, a, one), select(ordinary, y, one), accuracy);
  Vec grows = !((a > 1) ^ (y > 0));
  Vec extreme = select(grows, x.number(infinity), 0);
  extreme = select((a == 1) & !is_nan(y), one, extreme);
  Vec number = select(is_nan(x) | is_nan(y), x + y, select(ordinary, value, extreme));
  Vec whole = is_whole(y), odd = whole & !is_whole(y * 0.5);
  Vec signed_value = select(odd, copysign(number, x), number);
  Vec negative = (x < 0) & (x > -infinity) & (bound < infinity) & !whole;
  Vec real = select(negative, not_a_number, signed_value);
  return select((y == 0) | (x == 1), one, real);
}

/// 2^k times the root of a number in [0.35, 2.83], by one step of Newton's method.
Vec cbrt(const Vec& x, Accuracy accuracy) {
  Vec a = magnitude(x), ordinary = (a > 0) & (a < infinity);
  auto [f, e] = split(select(ordinary, a, 1), Accuracy::Float64);
  Vec k = nearest(e * (1.0 / 3));
  Vec m = (1 + f) * scale(x.number(1), fma(k, -3, e));
  auto [high, low] = log_of_split(f, f.number(0), Accuracy::Float32);
  Vec logarithm = fma(fma(k, -3, e), log2_high, high + low);
  Vec y = polynomial(Polynomial::Exp, logarithm * (1.0 / 3), Accuracy::Float32);
  Vec square = y * y;
  Vec root = fma(fma(-y, square, m) / square, 1.0 / 3, y);
  return select(ordinary, copysign(scale(root, k), x), x);
}

Vec rcbrt(const Vec& x, Accuracy accuracy) { return 1 / cbrt(x, accuracy); }

}  // namespace tc::halide_bridge::line::wide
