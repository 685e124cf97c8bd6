#include "tc/cpu/stmt/expand_divisions.h"

#include <cmath>
#include <limits>

#include "tc/halide_bridge/math/float_ops.h"

namespace tc::cpu {
namespace {

using Halide::Expr;
using Halide::Type;
using halide_bridge::let;
namespace ir = Halide::Internal;

enum class Part { Quotient, Remainder };

/// Is \p b a divisor by which Halide shifts or multiplies?
bool is_small_literal(const Expr& b) {
  int shift = 0;
  if (ir::is_const_power_of_two_integer(b, &shift)) return true;
  if (b.type().bits() == 64) return false;
  const auto* number = ir::as_const_int(b);
  const auto* natural = ir::as_const_uint(b);
  return (number && *number > 0 && *number < 256) || (natural && *natural > 0 && *natural < 256);
}

/// The machine's division, rounded towards zero. The divisor is not 0, and the quotient fits.
Expr truncated(const Expr& a, const Expr& b, Part part) {
  auto intrinsic = part == Part::Quotient ? ir::Call::div_round_to_zero : ir::Call::mod_round_to_zero;
  return ir::Call::make(a.type(), intrinsic, {a, b}, ir::Call::PureIntrinsic);
}

Expr is_negative(const Expr& x) { return ir::LT::make(x, ir::make_zero(x.type())); }

/// Signed \p a by a positive \p b.
Expr divide_by_positive(const Expr& a, const Expr& b, Part part) {
  return let(truncated(a, b, Part::Remainder), [&](const Expr& rest) {
    if (part == Part::Remainder) return ir::Select::make(is_negative(rest), ir::Add::make(rest, b), rest);
    Expr correction = ir::Select::make(is_negative(rest), ir::make_const(a.type(), -1), ir::make_zero(a.type()));
    return ir::Add::make(truncated(a, b, Part::Quotient), correction);
  });
}

Expr bits_as(const Type& type, const Expr& x) {
  return ir::Call::make(type, ir::Call::reinterpret, {x}, ir::Call::PureIntrinsic);
}

Expr magnitude(const Expr& x) {
  Expr bits = bits_as(x.type().with_code(halide_type_uint), x);
  return ir::Select::make(is_negative(x), ir::Sub::make(ir::make_zero(bits.type()), bits), bits);
}

/// Signed operands by their magnitudes, whose division cannot overflow; a negative dividend rounds away from zero.
Expr divide_magnitudes(const Expr& a, const Expr& b, Part part) {
  return let(magnitude(a), [&](const Expr& dividend) {
    return let(magnitude(b), [&](const Expr& divisor) {
      Expr zero = ir::make_zero(dividend.type());
      return let(truncated(dividend, divisor, Part::Remainder), [&](const Expr& rest) {
        Expr away = ir::And::make(is_negative(a), ir::NE::make(rest, zero));
        if (part == Part::Remainder)
          return bits_as(a.type(), ir::Select::make(away, ir::Sub::make(divisor, rest), rest));
        Expr count = ir::Add::make(truncated(dividend, divisor, Part::Quotient), ir::Cast::make(dividend.type(), away));
        return let(count, [&](const Expr& quotient) {
          Expr signs = ir::Call::make(a.type(), ir::Call::bitwise_xor, {a, b}, ir::Call::PureIntrinsic);
          return bits_as(a.type(), ir::Select::make(is_negative(signs), ir::Sub::make(zero, quotient), quotient));
        });
      });
    });
  });
}

Expr divide_by_nonzero(const Expr& a, const Expr& b, Part part) {
  if (a.type().is_uint()) return truncated(a, b, part);
  const auto* literal = ir::as_const_int(b);
  return literal && *literal > 0 ? divide_by_positive(a, b, part) : divide_magnitudes(a, b, part);
}

/// \p divisor with its lanes that are 0, those of \p is_zero, set to 1.
Expr with_one_for_zero(const Expr& divisor, const Expr& is_zero) {
  Expr one = ir::Cast::make(divisor.type(), is_zero);
  return ir::Call::make(divisor.type(), ir::Call::bitwise_or, {divisor, one}, ir::Call::PureIntrinsic);
}

Expr divide(const Expr& a, const Expr& b, Part part) {
  Expr zero = ir::make_zero(a.type());
  if (ir::is_const_zero(b)) return zero;
  return let(a, [&](const Expr& dividend) {
    if (ir::as_const_int(b) || ir::as_const_uint(b)) return divide_by_nonzero(dividend, b, part);
    return let(b, [&](const Expr& divisor) {
      Expr is_zero = ir::EQ::make(divisor, zero);
      return let(with_one_for_zero(divisor, is_zero), [&](const Expr& nonzero) {
        return ir::Select::make(is_zero, zero, divide_by_nonzero(dividend, nonzero, part));
      });
    });
  });
}

/// Infinity with the sign of the literal zero \p zero.
Expr reciprocal_of_zero(const Expr& zero) {
  if (const auto* same = zero.as<ir::Broadcast>())
    return ir::Broadcast::make(reciprocal_of_zero(same->value), same->lanes);
  const auto* number = zero.as<ir::FloatImm>();
  bool negative = number && std::signbit(number->value);
  return ir::FloatImm::make(zero.type(), (negative ? -1 : 1) * std::numeric_limits<double>::infinity());
}

class Expand : public ir::IRMutator {
 private:
  using ir::IRMutator::visit;

  Expr visit(const ir::Div* op) override { return expanded(op, Part::Quotient); }
  Expr visit(const ir::Mod* op) override { return expanded(op, Part::Remainder); }

  template <typename Node>
  Expr expanded(const Node* op, Part part) {
    if (op->type.is_float() && part == Part::Quotient && ir::is_const_zero(op->b))
      return ir::Mul::make(mutate(op->a), reciprocal_of_zero(op->b));
    if (op->type.is_float() || is_small_literal(op->b)) return ir::IRMutator::visit(op);
    return divide(mutate(op->a), mutate(op->b), part);
  }
};

}  // namespace

ir::Stmt expand_divisions(const ir::Stmt& body) { return Expand().mutate(body); }

}  // namespace tc::cpu
