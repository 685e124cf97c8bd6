#include "tc/halide_bridge/lower/integer_arithmetic.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "tc/base/ceil_div.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using Halide::Type;

std::optional<__int128> constant_value(const Expr& expr) {
  if (const auto* value = expr.as<ir::IntImm>()) return value->value;
  if (const auto* value = expr.as<ir::UIntImm>()) return value->value;
  return std::nullopt;
}

/// Does Halide assume that this type's arithmetic never overflows?
bool assumed_exact(Type type) { return type.is_int() && type.bits() >= 32; }

/// \p value, unsigned, as the signed \p type of its width. Halide folds a Cast of a large constant to an error.
Expr as_signed(Type type, const Expr& value) {
  return ir::Call::make(type, ir::Call::reinterpret, {value}, ir::Call::PureIntrinsic);
}

/// Node(a, b), whose mathematical result lies in \p exact (absent: unknown), modulo 2^bits.
template <typename Node>
Integer wrapping(const Integer& a, const Integer& b, std::optional<Bounds> exact) {
  const Type type = a.expr.type();
  const Bounds all = bounds_of(type);
  if (exact && all.contains(*exact)) {
    if (constant_value(a.expr) && constant_value(b.expr)) return constant(type, exact->low);
    return {Node::make(a.expr, b.expr), *exact};
  }
  if (!assumed_exact(type)) return {Node::make(a.expr, b.expr), all};
  const Type raw = type.with_code(halide_type_uint);
  return {as_signed(type, Node::make(ir::Cast::make(raw, a.expr), ir::Cast::make(raw, b.expr))), all};
}

/// The least and greatest of f(x, y) over the corners of the two bounds; absent if one leaves 128 bits.
std::optional<Bounds> over_corners(const Bounds& a, const Bounds& b,
                                   const std::function<bool(__int128, __int128, __int128*)>& f) {
  std::optional<Bounds> result;
  for (const __int128 x : {a.low, a.high}) {
    for (const __int128 y : {b.low, b.high}) {
      __int128 value = 0;
      if (!f(x, y, &value)) return std::nullopt;
      result = result ? hull(*result, {value, value}) : Bounds{value, value};
    }
  }
  return result;
}

__int128 magnitude(const Bounds& bounds) { return std::max(-bounds.low, bounds.high); }

Bounds within(Type type, const Bounds& bounds) {
  const Bounds all = bounds_of(type);
  return all.contains(bounds) ? bounds : all;
}

Bounds quotient_bounds(const Integer& a, const Integer& b) {
  if (b.bounds.low <= 0) return within(a.expr.type(), {-magnitude(a.bounds), magnitude(a.bounds)});
  return *over_corners(a.bounds, b.bounds, [](__int128 x, __int128 y, __int128* result) {
    *result = tc::floor_div(x, y);
    return true;
  });
}

Bounds remainder_bounds(const Integer& a, const Integer& b) {
  if (a.bounds.low >= 0 && a.bounds.high < b.bounds.low) return a.bounds;
  const __int128 zero = 0;
  return {std::min(b.bounds.low + 1, zero), std::max(b.bounds.high - 1, zero)};
}

/// b < 0 and a is no multiple of b: where Halide's Euclidean division rounds the other way.
Expr rounds_down(const Integer& a, const Integer& b) {
  const Expr zero = ir::make_zero(a.expr.type());
  return ir::And::make(ir::LT::make(b.expr, zero), ir::NE::make(ir::Mod::make(a.expr, b.expr), zero));
}

/// floor(a / b), 0 for b = 0.
Integer quotient(const Integer& a, const Integer& b) {
  const Bounds bounds = quotient_bounds(a, b);
  const Type type = a.expr.type();
  const Expr euclidean = ir::Div::make(a.expr, b.expr);
  if (b.bounds.low >= 0) return {euclidean, bounds};
  const Expr one = ir::make_one(type), zero = ir::make_zero(type);
  Expr result = ir::Sub::make(euclidean, ir::Select::make(rounds_down(a, b), one, zero));
  const bool overflows = a.bounds.low == bounds_of(type).low && b.bounds.high >= -1;
  if (overflows) {
    result = ir::Select::make(ir::EQ::make(b.expr, ir::make_const(type, -1)), negate(a).expr, result);
  }
  return {result, bounds};
}

/// a - b * floor(a / b), 0 for b = 0.
Integer remainder(const Integer& a, const Integer& b) {
  const Bounds bounds = remainder_bounds(a, b);
  const Type type = a.expr.type();
  const Expr euclidean = ir::Mod::make(a.expr, b.expr);
  if (b.bounds.low >= 0) return {euclidean, bounds};
  return {ir::Add::make(euclidean, ir::Select::make(rounds_down(a, b), b.expr, ir::make_zero(type))), bounds};
}

}  // namespace

Bounds bounds_of(Type type) {
  const __int128 one = 1;
  if (type.is_int()) return {-(one << (type.bits() - 1)), (one << (type.bits() - 1)) - 1};
  return {0, (one << type.bits()) - 1};
}

Bounds hull(const Bounds& a, const Bounds& b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

Integer constant(Type type, __int128 value) {
  const Expr expr = type.is_int() ? Expr(ir::IntImm::make(type, static_cast<std::int64_t>(value)))
                                  : Expr(ir::UIntImm::make(type, static_cast<std::uint64_t>(value)));
  const __int128 kept = *constant_value(expr);
  return {expr, {kept, kept}};
}

Integer add(const Integer& a, const Integer& b) {
  return wrapping<ir::Add>(a, b, Bounds{a.bounds.low + b.bounds.low, a.bounds.high + b.bounds.high});
}

Integer subtract(const Integer& a, const Integer& b) {
  return wrapping<ir::Sub>(a, b, Bounds{a.bounds.low - b.bounds.high, a.bounds.high - b.bounds.low});
}

Integer multiply(const Integer& a, const Integer& b) {
  return wrapping<ir::Mul>(a, b, over_corners(a.bounds, b.bounds, [](__int128 x, __int128 y, __int128* result) {
                             return !__builtin_mul_overflow(x, y, result);
                           }));
}

Integer floor_div(const Integer& a, const Integer& b) {
  const Type type = a.expr.type();
  const auto x = constant_value(a.expr), y = constant_value(b.expr);
  if (y && *y == 0) return constant(type, 0);
  if (x && y) return constant(type, tc::floor_div(*x, *y));
  return quotient(a, b);
}
Integer floor_mod(const Integer& a, const Integer& b) {
  const Type type = a.expr.type();
  const auto x = constant_value(a.expr), y = constant_value(b.expr);
  if (y && *y == 0) return constant(type, 0);
  if (x && y) return constant(type, *x - tc::floor_div(*x, *y) * *y);
  return remainder(a, b);
}
Integer negate(const Integer& a) { return subtract(constant(a.expr.type(), 0), a); }

Integer minimum(const Integer& a, const Integer& b) {
  return {ir::Min::make(a.expr, b.expr),
          {std::min(a.bounds.low, b.bounds.low), std::min(a.bounds.high, b.bounds.high)}};
}

Integer maximum(const Integer& a, const Integer& b) {
  return {ir::Max::make(a.expr, b.expr),
          {std::max(a.bounds.low, b.bounds.low), std::max(a.bounds.high, b.bounds.high)}};
}

Integer absolute(const Integer& a) {
  const Type type = a.expr.type();
  if (a.bounds.low >= 0) return a;
  const std::string name = "x.whole";
  const Integer x = {ir::Variable::make(type, name), a.bounds};
  const Expr is_negative = ir::LT::make(x.expr, ir::make_zero(type));
  return {ir::Let::make(name, a.expr, ir::Select::make(is_negative, negate(x).expr, x.expr)),
          within(type, {0, magnitude(a.bounds)})};
}

Integer convert(const Integer& a, Type type) {
  if (a.expr.type() == type) return a;
  if (const auto value = constant_value(a.expr)) return constant(type, *value);
  const Type from = a.expr.type();
  const bool same_width = from.is_uint() && type.is_int() && from.bits() == type.bits();
  return {same_width ? as_signed(type, a.expr) : ir::Cast::make(type, a.expr), within(type, a.bounds)};
}

}  // namespace tc::halide_bridge
