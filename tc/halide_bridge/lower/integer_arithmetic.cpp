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

Integer bits_of(ir::Call::IntrinsicOp op, const Integer& a, const Integer& b, const Bounds& bounds) {
  return {ir::Call::make(a.expr.type(), op, {a.expr, b.expr}, ir::Call::PureIntrinsic), bounds};
}

/// Of numbers that are not negative, the bits that one of them may have.
Bounds joint_bits(const Integer& a, const Integer& b) {
  if (a.bounds.low < 0 || b.bounds.low < 0) return bounds_of(a.expr.type());
  __int128 all = 0;
  while (all < std::max(a.bounds.high, b.bounds.high)) all = 2 * all + 1;
  return {0, all};
}

/// The bits of \p a as a number without a sign.
Expr raw_bits(const Integer& a) {
  const Type raw = a.expr.type().with_code(halide_type_uint);
  return a.expr.type() == raw ? a.expr : ir::Cast::make(raw, a.expr);
}

/// \p value shifted by the bits of \p n that tell a bit of \p type.
Expr shift(ir::Call::IntrinsicOp op, Type type, const Expr& value, const Integer& n) {
  const Type raw = type.with_code(halide_type_uint);
  const auto known = constant_value(n.expr);
  const Expr amount =
      known ? ir::make_const(raw, static_cast<std::uint64_t>(*known) % type.bits())
            : ir::Call::make(raw, ir::Call::bitwise_and, {raw_bits(n), ir::make_const(raw, type.bits() - 1)},
                             ir::Call::PureIntrinsic);
  return ir::Call::make(type, op, {value, amount}, ir::Call::PureIntrinsic);
}

/// \p shifted where \p n is a number of bits that its type has, else \p none.
Expr kept_bits(const Integer& n, const Expr& shifted, const Expr& none) {
  const Type raw = n.expr.type().with_code(halide_type_uint);
  if (Bounds{0, raw.bits() - 1}.contains(n.bounds)) return shifted;
  return ir::Select::make(ir::LT::make(raw_bits(n), ir::make_const(raw, raw.bits())), shifted, none);
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

Integer bit_and(const Integer& a, const Integer& b) {
  if (a.bounds.low < 0 && b.bounds.low < 0) return bits_of(ir::Call::bitwise_and, a, b, bounds_of(a.expr.type()));
  const __int128 high = a.bounds.low < 0   ? b.bounds.high
                        : b.bounds.low < 0 ? a.bounds.high
                                           : std::min(a.bounds.high, b.bounds.high);
  return bits_of(ir::Call::bitwise_and, a, b, {0, high});
}
Integer bit_or(const Integer& a, const Integer& b) { return bits_of(ir::Call::bitwise_or, a, b, joint_bits(a, b)); }
Integer bit_xor(const Integer& a, const Integer& b) { return bits_of(ir::Call::bitwise_xor, a, b, joint_bits(a, b)); }

Integer shift_left(const Integer& a, const Integer& n) {
  const Type type = a.expr.type(), raw = type.with_code(halide_type_uint);
  const Expr shifted = shift(ir::Call::shift_left, raw, raw_bits(a), n);
  const Expr value = kept_bits(n, shifted, ir::make_zero(raw));
  return {type == raw ? value : as_signed(type, value), bounds_of(type)};
}

Integer shift_right(const Integer& a, const Integer& n) {
  const Type type = a.expr.type();
  if (type.is_uint())
    return {kept_bits(n, shift(ir::Call::shift_right, type, a.expr, n), ir::make_zero(type)), {0, a.bounds.high}};
  const Expr last = ir::make_const(type, type.bits() - 1);
  const Expr amount = constant_value(n.expr) ? n.expr : kept_bits(n, n.expr, last);
  return {shift(ir::Call::shift_right, type, a.expr, {amount, n.bounds}),
          {std::min<__int128>(a.bounds.low, -1), std::max<__int128>(a.bounds.high, 0)}};
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
