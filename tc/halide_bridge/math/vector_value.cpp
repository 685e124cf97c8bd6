#include "tc/halide_bridge/math/vector_value.h"

#include <cmath>
#include <limits>

#include "tc/halide_bridge/stmt/value_name.h"

namespace tc::halide_bridge {

using Halide::Expr;
using Halide::Type;
namespace ir = Halide::Internal;

namespace {

Expr reinterpret(const Expr& x, const Type& type) {
  return ir::Call::make(type, ir::Call::reinterpret, {x}, ir::Call::PureIntrinsic);
}

std::int64_t sign_bit(const Vec& x) {
  return x.is_double() ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int32_t>::min();
}

bool is_leaf(const Expr& e) {
  if (const auto* same = e.as<ir::Broadcast>()) return is_leaf(same->value);
  return e.as<ir::Variable>() || ir::is_const(e);
}

}  // namespace

Vec::Vec(Steps& steps, const Expr& value) : steps_(&steps), expr_(value) {
  if (is_leaf(value)) return;
  auto name = value_name("m");
  steps.emplace_back(name, value);
  expr_ = ir::Variable::make(value.type(), name);
}

Vec Vec::step(const Expr& value) const { return {*steps_, value}; }
Vec Vec::number(double value) const { return step(ir::make_const(expr_.type(), value)); }
Vec Vec::integer(std::int64_t value) const {
  return step(ir::make_const(expr_.type().with_code(halide_type_int), value));
}
Vec Vec::bits() const { return step(reinterpret(expr_, expr_.type().with_code(halide_type_int))); }
Vec Vec::from_bits() const { return step(reinterpret(expr_, expr_.type().with_code(halide_type_float))); }
Vec Vec::as_float(int to) const { return step(ir::Cast::make(Halide::Float(to, lanes()), expr_)); }
Vec Vec::as_int() const { return step(ir::Cast::make(expr_.type().with_code(halide_type_int), expr_)); }

Vec Vec::call(const std::string& name, const std::vector<Vec>& args) {
  std::vector<Expr> exprs;
  for (const Vec& arg : args) exprs.push_back(arg.expr_);
  const char* suffix = args[0].is_double() ? "_f64" : "_f32";
  return args[0].step(ir::Call::make(args[0].expr_.type(), "tc_" + name + suffix, exprs, ir::Call::PureExtern));
}

Expr Vec::finish(const Steps& steps, const Vec& result) {
  Expr value = result.expr_;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step)
    value = ir::Let::make(step->first, step->second, value);
  return value;
}

Vec operator+(const Vec& a, const Vec& b) { return a.step(ir::Add::make(a.expr_, b.expr_)); }
Vec operator-(const Vec& a, const Vec& b) { return a.step(ir::Sub::make(a.expr_, b.expr_)); }
Vec operator*(const Vec& a, const Vec& b) { return a.step(ir::Mul::make(a.expr_, b.expr_)); }
Vec operator/(const Vec& a, const Vec& b) { return a.step(ir::Div::make(a.expr_, b.expr_)); }
Vec operator<(const Vec& a, const Vec& b) { return a.step(ir::LT::make(a.expr_, b.expr_)); }
Vec operator>(const Vec& a, const Vec& b) { return a.step(ir::GT::make(a.expr_, b.expr_)); }
Vec operator==(const Vec& a, const Vec& b) { return a.step(ir::EQ::make(a.expr_, b.expr_)); }
Vec operator&(const Vec& a, const Vec& b) {
  return a.step(a.expr_.type().is_bool() ? ir::And::make(a.expr_, b.expr_) : a.expr_ & b.expr_);
}
Vec operator|(const Vec& a, const Vec& b) {
  return a.step(a.expr_.type().is_bool() ? ir::Or::make(a.expr_, b.expr_) : a.expr_ | b.expr_);
}
Vec operator^(const Vec& a, const Vec& b) { return a.step(a.expr_ ^ b.expr_); }
Vec operator!(const Vec& a) { return a.step(ir::Not::make(a.expr_)); }
Vec operator<<(const Vec& a, int places) { return a.step(a.expr_ << ir::make_const(a.expr_.type(), places)); }
Vec operator>>(const Vec& a, int places) { return a.step(a.expr_ >> ir::make_const(a.expr_.type(), places)); }
Vec shift_right_logical(const Vec& a, int places) {
  auto bits = a.expr_.type().with_code(halide_type_uint);
  return a.step(ir::Cast::make(a.expr_.type(), ir::Cast::make(bits, a.expr_) >> ir::make_const(bits, places)));
}
Vec select(const Vec& condition, const Vec& a, const Vec& b) {
  return a.step(ir::Select::make(condition.expr_, a.expr_, b.expr_));
}

Vec Vec::rounded(const std::string& name, const Vec& x) {
  auto type = x.expr_.type();
  return x.step(ir::Call::make(type, name + (x.is_double() ? "_f64" : "_f32"), {x.expr_}, ir::Call::PureExtern));
}

Vec where_any(const Vec& condition, const Vec& fast, const std::vector<Vec>& args,
              const std::function<Vec(const std::vector<Vec>&)>& slow) {
  Steps inner;
  std::vector<Vec> inside;
  for (const Vec& arg : args) inside.emplace_back(inner, arg.expr_);
  Vec result = slow(inside);
  Expr chosen = Vec::finish(inner, result.step(ir::Select::make(condition.expr_, result.expr_, fast.expr_)));
  Expr any = condition.expr_;
  if (any.type().is_vector()) any = ir::VectorReduce::make(ir::VectorReduce::Or, any, 1);
  return fast.step(
      ir::Call::make(fast.expr_.type(), ir::Call::if_then_else, {any, chosen, fast.expr_}, ir::Call::PureIntrinsic));
}

Vec fma(const Vec& a, const Vec& b, const Vec& c) { return Vec::call("fused", {a, b, c}); }

Vec polynomial(const std::vector<double>& c, const Vec& x) {
  Vec sum = x.number(c[0]);
  for (std::size_t i = 1; i < c.size(); ++i) sum = fma(sum, x, c[i]);
  return sum;
}

Vec operator-(const Vec& x) { return (x.bits() ^ x.integer(sign_bit(x))).from_bits(); }
Vec magnitude(const Vec& x) { return (x.bits() & x.integer(~sign_bit(x))).from_bits(); }
Vec copysign(const Vec& x, const Vec& sign) {
  return ((x.bits() & x.integer(~sign_bit(x))) | (sign.bits() & x.integer(sign_bit(x)))).from_bits();
}
Vec flip_sign(const Vec& x, const Vec& sign_bits, int places) {
  return (x.bits() ^ ((sign_bits << places) & x.integer(sign_bit(x)))).from_bits();
}
Vec at_least(const Vec& x, double bound) { return select(x < bound, bound, x); }
Vec at_most(const Vec& x, double bound) { return select(x > bound, bound, x); }
Vec is_nan(const Vec& x) { return !(x == x); }
Vec nearest(const Vec& x) { return Vec::call("nearest", {x}); }
Vec square_root(const Vec& x) { return Vec::call("root", {x}); }
Vec scale(const Vec& y, const Vec& n) { return Vec::call("scale", {y, n}); }

namespace {

/// y 2^n for a small n, without operations whose result is denormal. The least number is 2^-149 for float32: of y 2^n = t 2^-149,
/// t = y 2^(n+149), the bits are those of t with a smaller exponent or, for a denormal one, t rounded to a whole number, which the
/// bits of 2^23 + t hold.
Vec small_product(const Vec& y, const Vec& n) {
  const int places = y.is_double() ? 52 : 23, least = y.is_double() ? 1074 : 149;
  Vec t = scale(y, n + least), one = t.number(std::ldexp(1.0, places));
  Vec denormal = (t + one).bits() - one.bits();
  Vec normal = t.bits() - t.integer(static_cast<std::int64_t>(least) << places);
  return select(t < one, denormal, normal).from_bits();
}

double least_normal_exponent(const Vec& n) { return n.is_double() ? -990 : -100; }

}  // namespace

Vec unless_small(const Vec& usual, const Vec& y, const Vec& n, double least) {
  const auto product = [](const std::vector<Vec>& args) { return small_product(args[0], args[1]); };
  return where_any(n < least, usual, {y, n}, [&](const std::vector<Vec>& args) {
    const Vec& exponent = args[1];
    Vec is_positive = exponent > (exponent.is_double() ? -1086.5 : -161.5);
    return where_any((exponent < least) & is_positive, exponent.number(0), args, product);
  });
}
Vec unless_small(const Vec& usual, const Vec& y, const Vec& n) {
  return unless_small(usual, y, n, least_normal_exponent(n));
}

Vec normal_exponent(const Vec& n) { return at_least(n, least_normal_exponent(n)); }

Vec scale_to_denormal(const Vec& y, const Vec& n) { return unless_small(scale(y, normal_exponent(n)), y, n); }
Vec falling_side(const Vec& x, double bound) { return select(x < 0, x, at_least(-x, bound)); }

Pair exact_sum(const Vec& a, const Vec& b) {
  Vec sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}
Pair exact_sum_ordered(const Vec& a, const Vec& b) {
  Vec sum = a + b;
  return {sum, b - (sum - a)};
}
Pair exact_product(const Vec& a, const Vec& b) {
  Vec product = a * b;
  return {product, fma(a, b, -product)};
}

}  // namespace tc::halide_bridge
