#pragma once

#include <Halide.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace tc::halide_bridge {

namespace line {
inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
}  // namespace line

/// The operations of a straight line in order, each computed once.
using Steps = std::vector<std::pair<std::string, Halide::Expr>>;

/// A value of a number of lanes on a straight line of operations: what an operator makes is a new step of the line.
/// Numbers beside a value take its type. Comparisons are false for NaN.
class Vec {
 public:
  Vec(Steps& steps, const Halide::Expr& value);

  const Halide::Expr& expr() const { return expr_; }
  /// The type of its elements and how many there are.
  int lanes() const { return expr_.type().lanes(); }
  bool is_double() const { return expr_.type().bits() == 64; }

  /// \p value in this value's type and lanes.
  Vec number(double value) const;
  Vec integer(std::int64_t value) const;
  /// The value's bits as signed integers, and back.
  Vec bits() const;
  Vec from_bits() const;
  /// The nearest value of Float(\p to).
  Vec as_float(int to) const;
  /// An Int of the same width, cut towards zero; a value outside of it gives any.
  Vec as_int() const;
  /// An intrinsic of the code generator (see cpu/lane_functions.h): tc_<name>_f32|f64 of values of this type.
  static Vec call(const std::string& name, const std::vector<Vec>& args);
  /// floor, ceil, trunc.
  static Vec rounded(const std::string& name, const Vec& x);
  /// \p result inside of all its steps.
  static Halide::Expr finish(const Steps& steps, const Vec& result);

  friend Vec operator+(const Vec& a, const Vec& b);
  friend Vec operator-(const Vec& a, const Vec& b);
  friend Vec operator*(const Vec& a, const Vec& b);
  friend Vec operator/(const Vec& a, const Vec& b);
  friend Vec operator<(const Vec& a, const Vec& b);
  friend Vec operator>(const Vec& a, const Vec& b);
  friend Vec operator==(const Vec& a, const Vec& b);
  friend Vec operator&(const Vec& a, const Vec& b);
  friend Vec operator|(const Vec& a, const Vec& b);
  friend Vec operator^(const Vec& a, const Vec& b);
  friend Vec operator!(const Vec& a);
  /// Shifts of integers, arithmetic to the right.
  friend Vec operator<<(const Vec& a, int places);
  friend Vec operator>>(const Vec& a, int places);
  /// A shift of integers that moves zeros in.
  friend Vec shift_right_logical(const Vec& a, int places);
  /// a where \p condition holds, else b.
  friend Vec select(const Vec& condition, const Vec& a, const Vec& b);

  /// \p fast, but in lanes with \p condition what \p slow makes of \p args. Runs \p slow only where a lane has it.
  friend Vec where_any(const Vec& condition, const Vec& fast, const std::vector<Vec>& args,
                       const std::function<Vec(const std::vector<Vec>&)>& slow);

 private:
  Steps* steps_;
  Halide::Expr expr_;

  Vec step(const Halide::Expr& value) const;
};

inline Vec operator+(const Vec& a, double b) { return a + a.number(b); }
inline Vec operator+(double a, const Vec& b) { return b.number(a) + b; }
inline Vec operator-(const Vec& a, double b) { return a - a.number(b); }
inline Vec operator-(double a, const Vec& b) { return b.number(a) - b; }
inline Vec operator*(const Vec& a, double b) { return a * a.number(b); }
inline Vec operator*(double a, const Vec& b) { return b.number(a) * b; }
inline Vec operator/(const Vec& a, double b) { return a / a.number(b); }
inline Vec operator/(double a, const Vec& b) { return b.number(a) / b; }
inline Vec operator<(const Vec& a, double b) { return a < a.number(b); }
inline Vec operator>(const Vec& a, double b) { return a > a.number(b); }
inline Vec operator==(const Vec& a, double b) { return a == a.number(b); }
/// Lane by lane, \p a where \p condition holds, else \p b.
inline Vec select(const Vec& condition, const Vec& a, double b) { return select(condition, a, a.number(b)); }
inline Vec select(const Vec& condition, double a, const Vec& b) { return select(condition, b.number(a), b); }

/// a b + c with one rounding; without fused operations in the target, with an error far below the last place of the
/// result unless a b + c cancels in more than half of its places.
Vec fma(const Vec& a, const Vec& b, const Vec& c);
inline Vec fma(const Vec& a, double b, const Vec& c) { return fma(a, a.number(b), c); }
inline Vec fma(const Vec& a, const Vec& b, double c) { return fma(a, b, a.number(c)); }
inline Vec fma(const Vec& a, double b, double c) { return fma(a, a.number(b), a.number(c)); }

/// \p x with its sign changed where the bits \p sign, shifted up by \p places, reach the sign bit.
Vec flip_sign(const Vec& x, const Vec& sign_bits, int places);

/// c[0] x^n + ... + c[n] with n fused steps.
Vec polynomial(const std::vector<double>& c, const Vec& x);

Vec operator-(const Vec& x);
/// Without its sign, -0 and NaN too.
Vec magnitude(const Vec& x);
/// \p x with the sign of \p sign.
Vec copysign(const Vec& x, const Vec& sign);
/// x, or \p bound where x is below (above) it; NaN stays.
Vec at_least(const Vec& x, double bound);
Vec at_most(const Vec& x, double bound);
/// True where x is a NaN.
Vec is_nan(const Vec& x);
/// The nearest whole number, halves to the even one.
Vec nearest(const Vec& x);
Vec square_root(const Vec& x);
/// y 2^n, rounded once, for a whole |n| <= 250 (float32) or 2000 (float64) where y 2^(n/2) is normal.
Vec scale(const Vec& y, const Vec& n);
/// As scale(), also where y 2^n is denormal or 0, for 2^-24 <= y <= 2^12. An operation whose result is denormal takes a processor some
/// hundred cycles, so that such products are found by operations on integers, which run only where a lane has one.
Vec scale_to_denormal(const Vec& y, const Vec& n);
/// n, at least -100 (float32) or -990 (float64): y 2^n is normal for y as above.
Vec normal_exponent(const Vec& n);
/// \p usual, but y 2^n for \p y as above where n is less than \p least or, without it, than its normal_exponent.
Vec unless_small(const Vec& usual, const Vec& y, const Vec& n);
Vec unless_small(const Vec& usual, const Vec& y, const Vec& n, double least);
/// -|x|, at least \p bound where x is positive: for functions that x decides alone beyond it.
Vec falling_side(const Vec& x, double bound);

/// A sum high + low where low is below the last place of high.
struct Pair {
  Vec high, low;
};
/// a + b and a b exactly.
Pair exact_sum(const Vec& a, const Vec& b);
Pair exact_product(const Vec& a, const Vec& b);
/// As exact_sum, for |a| >= |b| or a = 0.
Pair exact_sum_ordered(const Vec& a, const Vec& b);

}  // namespace tc::halide_bridge
