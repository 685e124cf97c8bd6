#include "tc/derive/form/fill.h"
#include "tc/derive/form/isl_expressions.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tc::derive {

using lang::BinaryOp;
using lang::ExprPtr;

namespace {

/// The least and the largest element of an integer type; 0 and 0 for others.
struct Extremes {
  double least = 0, largest = 0;
};

Extremes extremes(DType type) {
  if (!is_integer(type)) return {};
  const double range = std::ldexp(1.0, 8 * static_cast<int>(byte_size(type)) - (is_signed_integer(type) ? 1 : 0));
  return {is_signed_integer(type) ? -range : 0, range - 1};
}

std::optional<double> evaluate(const ExprPtr& expr) {
  if (const auto* literal = std::get_if<lang::IntLiteral>(&expr->node)) return static_cast<double>(literal->value);
  if (const auto* literal = std::get_if<lang::FloatLiteral>(&expr->node)) return literal->value;
  if (const auto* literal = std::get_if<lang::BoolLiteral>(&expr->node)) return literal->value ? 1 : 0;
  if (const auto* cast = std::get_if<lang::Cast>(&expr->node))
    return cast->implicit ? evaluate(cast->value) : std::nullopt;
  if (const auto* unary = std::get_if<lang::Unary>(&expr->node); unary && unary->op == lang::UnaryOp::Negate)
    if (const auto value = evaluate(unary->value)) return -*value;
  if (const auto* binary = std::get_if<lang::Binary>(&expr->node); binary && binary->op == BinaryOp::Div) {
    const auto a = evaluate(binary->left), b = evaluate(binary->right);
    if (a && b && std::holds_alternative<lang::FloatLiteral>(binary->right->node)) return *a / *b;
  }
  return std::nullopt;
}

/// Up to it all integers are floats of 32 bits, and integers of 32 bits do not overflow.
constexpr double largest_exact = 1 << 24;

/// The value of sums, differences and products of literals, where these and all on the way are the same numbers in all types of
/// floats from 32 bits on, and in integers where they are such.
std::optional<double> exact_value(const ExprPtr& expr) {
  auto exact = [](double value) {
    const bool fits = std::isinf(value) || std::abs(value) <= largest_exact;
    return fits && static_cast<float>(value) == value ? std::optional(value) : std::nullopt;
  };
  const auto* binary = std::get_if<lang::Binary>(&expr->node);
  if (const auto value = evaluate(expr)) return exact(*value);
  const auto a = binary ? exact_value(binary->left) : std::nullopt,
             b = binary ? exact_value(binary->right) : std::nullopt;
  if (!a || !b) return std::nullopt;
  if (binary->op == BinaryOp::Add) return exact(*a + *b);
  if (binary->op == BinaryOp::Sub) return exact(*a - *b);
  return binary->op == BinaryOp::Mul ? exact(*a * *b) : std::nullopt;
}

ExprPtr float_literal(double value) { return lang::make_expr(lang::FloatLiteral{value, ""}); }

}  // namespace

std::optional<double> literal_value(const ExprPtr& expr, DType type) {
  auto value = evaluate(expr);
  const auto ends = extremes(type);
  if (!value || ends.largest == 0) return value;
  if (*value == ends.largest) return std::numeric_limits<double>::infinity();
  if (*value == ends.least && ends.least < 0) return -std::numeric_limits<double>::infinity();
  return value;
}

bool is_same_in_all_types(const ExprPtr& expr) { return exact_value(expr).has_value(); }

ExprPtr with_products_of_zero(const ExprPtr& expr, DType type) {
  auto parts = lang::children(expr);
  if (parts.empty()) return expr;
  for (auto& part : parts) part = with_products_of_zero(part, type);
  const bool zero = operator_of(expr) == "*" && std::any_of(parts.begin(), parts.end(), [&](const auto& x) {
                      return literal_value(x, type) == 0.0;
                    });
  return zero ? number(0) : lang::with_children(expr, parts);
}

ExprPtr literal(double value, DType type) {
  if (type == DType::Bool) return lang::make_expr(lang::BoolLiteral{value != 0});
  if (std::isinf(value) && is_integer(type)) {
    const auto ends = extremes(type);
    if (value > 0)
      return lang::make_expr(
          lang::IntLiteral{static_cast<std::uint64_t>(ends.largest) - (byte_size(type) == 8 ? 1 : 0)});
    const auto size = lang::make_expr(lang::IntLiteral{static_cast<std::uint64_t>(-ends.least)});
    return ends.least == 0 ? number(0) : lang::make_expr(lang::Unary{lang::UnaryOp::Negate, size});
  }
  if (std::isinf(value)) {
    const auto size = joined(float_literal(1), BinaryOp::Div, float_literal(0));
    return value > 0 ? size
                     : lang::make_expr(lang::Binary{
                           BinaryOp::Div, lang::make_expr(lang::Unary{lang::UnaryOp::Negate, float_literal(1)}),
                           float_literal(0)});
  }
  if (value == std::floor(value) && std::abs(value) < 1e15) return number(static_cast<std::int64_t>(value));
  return value < 0 ? lang::make_expr(lang::Unary{lang::UnaryOp::Negate, float_literal(-value)}) : float_literal(value);
}

}  // namespace tc::derive
