#include "tc/halide_bridge/math/vector_rounding.h"

namespace tc::halide_bridge::line {
namespace {

/// a b + c with one rounding on every target.
Vec exact_fma(const Vec& a, const Vec& b, const Vec& c) { return Vec::call("fma", {a, b, c}); }

double largest_quotient(const Vec& x) { return x.is_double() ? 4503599627370496.0 : 8388608.0; }

/// \p value where x and y are finite and x / y is small; else the function of the C library, one by one.
Vec or_call(const char* name, const Vec& x, const Vec& y, const Vec& quotient, const Vec& value) {
  Vec small = (magnitude(quotient) < largest_quotient(x)) & (magnitude(y) < infinity);
  return where_any(!small, value, {x, y}, [name](const std::vector<Vec>& args) { return Vec::call(name, args); });
}

/// The exponent of the power of two below \p x >= 0, at least -1023.
Vec exponent(const Vec& x) {
  Vec field = shift_right_logical(x.bits(), 52);
  return (field | x.integer(0x4330000000000000)).from_bits() - (4503599627370496.0 + 1023);
}

/// The length of float64 vectors as a length of values near 1 and the exponent to scale it by.
Pair scaled_norm(const std::vector<Vec>& x) {
  Vec largest = magnitude(x[0]);
  for (const Vec& value : x) largest = select(magnitude(value) > largest, magnitude(value), largest);
  Vec n = exponent(largest);
  Vec sum = largest * 0;
  for (const Vec& value : x) {
    Vec scaled = scale(value, -n);
    sum = fma(scaled, scaled, sum);
  }
  return {square_root(sum), n};
}

/// \p value, or \p at_infinity where any of x is infinite.
Vec unless_infinite(const std::vector<Vec>& x, const Vec& value, double at_infinity) {
  Vec any = magnitude(x[0]) == infinity;
  for (const Vec& part : x) any = any | (magnitude(part) == infinity);
  return select(any, at_infinity, value);
}

/// The root of the sum of the squares of float32 values as a float64.
Vec wide_norm(const std::vector<Vec>& x) {
  Vec sum = x[0].as_float(64) * 0;
  for (const Vec& value : x) sum = fma(value.as_float(64), value.as_float(64), sum);
  return square_root(sum);
}

}  // namespace

Vec floor(const Vec& x) { return Vec::rounded("floor", x); }
Vec ceil(const Vec& x) { return Vec::rounded("ceil", x); }
Vec trunc(const Vec& x) { return Vec::rounded("trunc", x); }

Vec logb(const Vec& x) {
  if (!x.is_double()) return logb(x.as_float(64)).as_float(32);
  Vec a = magnitude(x), tiny = a < 2.2250738585072014e-308;
  Vec n = exponent(select(tiny, a * 18014398509481984.0, a));
  Vec value = select(tiny, n - 54, n);
  return select(a < infinity, select(a == 0, -infinity, value), a);
}

Vec fdim(const Vec& x, const Vec& y) { return select(is_nan(x) | is_nan(y), x + y, select(x > y, x - y, 0)); }

Vec nextafter(const Vec& x, const Vec& y) {
  Vec bits = x.bits(), one = x.integer(1);
  Vec away = (x < y) ^ (x < 0);
  Vec stepped = select(away, bits + one, bits - one).from_bits();
  Vec value = select(x == 0, copysign(one.from_bits(), y), stepped);
  return select(is_nan(x) | is_nan(y), x + y, select(x == y, y, value));
}

Vec fmod(const Vec& x, const Vec& y) {
  Vec a = magnitude(x), b = magnitude(y), quotient = a / b;
  Vec rest = exact_fma(-trunc(quotient), b, a);
  Vec low = select(rest < 0, rest + b, rest);
  Vec value = select(low < b, low, low - b);
  return or_call("fmod", x, y, quotient, copysign(value, x));
}

/// The quotient may be rounded to a half that it is not: the remainder is then more than half of y.
Vec remainder(const Vec& x, const Vec& y) {
  Vec b = magnitude(y), quotient = x / b;
  Vec rest = exact_fma(-nearest(quotient), b, x), size = magnitude(rest);
  Vec value = select(size > b - size, rest - copysign(b, rest), rest);
  return or_call("remainder", x, y, quotient, select(value == 0, copysign(value, x), value));
}

Vec norm(const std::vector<Vec>& x) {
  if (!x[0].is_double()) return unless_infinite(x, wide_norm(x).as_float(32), infinity);
  auto [length, n] = scaled_norm(x);
  return unless_infinite(x, scale(length, n), infinity);
}

Vec inverse_norm(const std::vector<Vec>& x) {
  if (!x[0].is_double()) return unless_infinite(x, (1 / wide_norm(x)).as_float(32), 0);
  auto [length, n] = scaled_norm(x);
  return unless_infinite(x, scale(1 / length, -n), 0);
}

}  // namespace tc::halide_bridge::line
