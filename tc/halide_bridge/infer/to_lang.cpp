#include <optional>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/halide_bridge/infer/convert_expr.h"
#include "tc/lang/syntax/operators.h"

namespace tc::halide_bridge {

using Halide::Expr;
namespace ir = Halide::Internal;

namespace {

lang::ExprPtr binary(lang::BinaryOp op, const Expr& a, const Expr& b) {
  const DType type = gives_truth(op) ? DType::Bool : DType::Int64;
  return lang::make_expr(lang::Binary{op, to_lang(a), to_lang(b)}, {}, type);
}

lang::ExprPtr literal(std::int64_t value) {
  const auto magnitude = value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  const lang::ExprPtr positive = lang::make_expr(lang::IntLiteral{magnitude}, {}, DType::Int64);
  return value < 0 ? lang::make_expr(lang::Unary{lang::UnaryOp::Negate, positive}, {}, DType::Int64) : positive;
}

lang::ExprPtr call(const char* function, const Expr& a, const Expr& b) {
  return lang::make_expr(lang::Call{function, {to_lang(a), to_lang(b)}}, {}, DType::Int64);
}

/// The x of x * -c for a constant c > 0, and x * c.
std::optional<Expr> negated_product(const Expr& expr) {
  const auto* product = expr.as<ir::Mul>();
  const std::int64_t* factor = product ? ir::as_const_int(product->b) : nullptr;
  if (!factor || *factor >= 0) return std::nullopt;
  return *factor == -1 ? product->a : product->a * constant(-*factor);
}

/// a + b, as a subtraction where one of them is a negative constant or product.
lang::ExprPtr sum(const Expr& a, const Expr& b) {
  const std::int64_t* value = ir::as_const_int(b);
  if (value && *value < 0) return binary(lang::BinaryOp::Sub, a, constant(-*value));
  if (const auto negated = negated_product(b)) return binary(lang::BinaryOp::Sub, a, *negated);
  if (const auto negated = negated_product(a)) return binary(lang::BinaryOp::Sub, b, *negated);
  return binary(lang::BinaryOp::Add, a, b);
}

/// A sum of terms and a constant.
struct Split {
  Expr terms;  ///< undefined: none
  std::int64_t offset = 0;
};

Split split_constant(const Expr& expr) {
  if (const std::int64_t* value = ir::as_const_int(expr)) return {Expr(), *value};
  if (const auto* add = expr.as<ir::Add>()) {
    const Split a = split_constant(add->a), b = split_constant(add->b);
    const Expr terms = !a.terms.defined() ? b.terms : !b.terms.defined() ? a.terms : a.terms + b.terms;
    return {terms, a.offset + b.offset};
  }
  if (const auto* sub = expr.as<ir::Sub>()) {
    const Split a = split_constant(sub->a), b = split_constant(sub->b);
    const Expr left = a.terms.defined() ? a.terms : b.terms.defined() ? constant(0) : Expr();
    return {b.terms.defined() ? left - b.terms : left, a.offset - b.offset};
  }
  return {expr, 0};
}

/// a <= b with the constants on one side.
Expr tidy_less_equal(const Expr& left, const Expr& right, std::int64_t strict) {
  const Split a = split_constant(left), b = split_constant(right);
  const std::int64_t difference = b.offset - a.offset - strict;
  if (!a.terms.defined() && !b.terms.defined()) return difference >= 0 ? ir::const_true() : ir::const_false();
  if (!a.terms.defined()) return b.terms >= constant(-difference);
  if (!b.terms.defined()) return a.terms <= constant(difference);
  if (difference == -1) return a.terms < b.terms;
  if (difference == 0) return a.terms <= b.terms;
  return difference > 0 ? a.terms <= b.terms + constant(difference) : a.terms + constant(-difference) <= b.terms;
}

}  // namespace

Expr tidy_condition(const Expr& condition) {
  if (const auto* op = condition.as<ir::LT>()) return tidy_less_equal(op->a, op->b, 1);
  if (const auto* op = condition.as<ir::LE>()) return tidy_less_equal(op->a, op->b, 0);
  if (const auto* op = condition.as<ir::GT>()) return tidy_less_equal(op->b, op->a, 1);
  if (const auto* op = condition.as<ir::GE>()) return tidy_less_equal(op->b, op->a, 0);
  if (const auto* op = condition.as<ir::And>()) return tidy_condition(op->a) && tidy_condition(op->b);
  if (const auto* op = condition.as<ir::Or>()) return tidy_condition(op->a) || tidy_condition(op->b);
  return condition;
}

lang::ExprPtr to_lang(const Expr& expr) {
  using Op = lang::BinaryOp;
  if (const std::int64_t* value = ir::as_const_int(expr)) return literal(*value);
  if (ir::is_const_one(expr) && expr.type().is_bool()) return lang::make_expr(lang::BoolLiteral{true}, {}, DType::Bool);
  if (ir::is_const_zero(expr) && expr.type().is_bool())
    return lang::make_expr(lang::BoolLiteral{false}, {}, DType::Bool);
  if (auto* op = expr.as<ir::Variable>())
    return lang::make_expr(lang::Name{op->name, lang::Name::Kind::Size}, {}, DType::Int64);
  if (auto* op = expr.as<ir::Add>()) return sum(op->a, op->b);
  if (auto* op = expr.as<ir::Sub>()) return binary(Op::Sub, op->a, op->b);
  if (auto* op = expr.as<ir::Mul>()) return binary(Op::Mul, op->a, op->b);
  if (auto* op = expr.as<ir::Div>()) return binary(Op::Div, op->a, op->b);
  if (auto* op = expr.as<ir::Mod>()) return binary(Op::Mod, op->a, op->b);
  if (auto* op = expr.as<ir::Min>()) return call("min", op->a, op->b);
  if (auto* op = expr.as<ir::Max>()) return call("max", op->a, op->b);
  if (auto* op = expr.as<ir::LT>()) return binary(Op::Lt, op->a, op->b);
  if (auto* op = expr.as<ir::LE>()) return binary(Op::Le, op->a, op->b);
  if (auto* op = expr.as<ir::GT>()) return binary(Op::Gt, op->a, op->b);
  if (auto* op = expr.as<ir::GE>()) return binary(Op::Ge, op->a, op->b);
  if (auto* op = expr.as<ir::EQ>()) return binary(Op::Eq, op->a, op->b);
  if (auto* op = expr.as<ir::NE>()) return binary(Op::Ne, op->a, op->b);
  if (auto* op = expr.as<ir::And>()) return binary(Op::And, op->a, op->b);
  if (auto* op = expr.as<ir::Or>()) return binary(Op::Or, op->a, op->b);
  if (auto* op = expr.as<ir::Not>())
    return lang::make_expr(lang::Unary{lang::UnaryOp::Not, to_lang(op->a)}, {}, DType::Bool);
  if (auto* op = expr.as<ir::Select>())
    return lang::make_expr(lang::Select{to_lang(op->condition), to_lang(op->true_value), to_lang(op->false_value)}, {},
                           DType::Int64);
  throw InternalError(str("to_lang: not an expression over sizes: ", expr));
}

}  // namespace tc::halide_bridge
