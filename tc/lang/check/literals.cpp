#include <algorithm>
#include <limits>

#include "tc/base/str.h"
#include "tc/lang/check/type_expr.h"
#include "tc/lang/syntax/print.h"

namespace tc::lang {
namespace {

std::uint64_t largest(DType type) {
  const int bits = bit_size(type) - (is_signed_integer(type) ? 1 : 0);
  return bits == 64 ? std::numeric_limits<std::uint64_t>::max() : (std::uint64_t{1} << bits) - 1;
}

/// Do the literals of the weak integer \p expr fit the integer \p type? A negated one as its negative.
bool fits(const ExprPtr& expr, DType type, bool negated = false) {
  if (const auto* literal = std::get_if<IntLiteral>(&expr->node)) {
    if (!negated) return literal->value <= largest(type);
    return is_signed_integer(type) ? literal->value <= largest(type) + 1 : literal->value == 0;
  }
  if (std::holds_alternative<Name>(expr->node)) return true;
  const auto* unary = std::get_if<Unary>(&expr->node);
  const bool flips = unary && unary->op == UnaryOp::Negate;
  auto parts = children(expr);
  if (std::holds_alternative<Select>(expr->node)) parts.erase(parts.begin());
  return std::all_of(parts.begin(), parts.end(),
                     [&](const ExprPtr& part) { return fits(part, type, flips && !negated); });
}

DType natural_int(const ExprPtr& expr) {
  if (std::holds_alternative<Name>(expr->node)) return *expr->type;
  return fits(expr, DType::Int32) ? DType::Int32 : fits(expr, DType::Int64) ? DType::Int64 : DType::UInt64;
}

/// Is the weak \p expr an integer, that is, without a float literal?
bool is_weak_int(const ExprPtr& expr) {
  if (std::holds_alternative<FloatLiteral>(expr->node)) return false;
  if (std::holds_alternative<Name>(expr->node)) return expr->type != DType::Float64;
  auto parts = children(expr);
  if (std::holds_alternative<Select>(expr->node)) parts.erase(parts.begin());
  return std::all_of(parts.begin(), parts.end(), is_weak_int);
}

/// The weak \p expr with every literal of \p type. Integers among floats keep integer arithmetic and are converted.
ExprPtr give_type(const ExprPtr& expr, DType type) {
  if (std::holds_alternative<Name>(expr->node)) return cast_to(expr, type);
  if (is_float(type) && is_weak_int(expr)) return cast_to(give_type(expr, natural_int(expr)), type);
  auto parts = children(expr);
  const bool select = std::holds_alternative<Select>(expr->node);
  for (std::size_t i = select ? 1 : 0; i < parts.size(); ++i) parts[i] = give_type(parts[i], type);
  const ExprPtr rebuilt = with_children(expr, parts);
  return make_expr(rebuilt->node, expr->range, type);
}

}  // namespace

ExprPtr cast_to(const ExprPtr& expr, DType type) {
  if (expr->type == type) return expr;
  return make_expr(Cast{type, expr, true}, expr->range, type);
}

DType natural_type(const Typed& typed) {
  if (typed.weak == Weak::No) return *typed.expr->type;
  return typed.weak == Weak::Float ? DType::Float32 : natural_int(typed.expr);
}

ExprPtr settle(const Typed& typed, DType type, Scope& scope) {
  if (!typed) return nullptr;
  if (typed.weak == Weak::No) return cast_to(typed.expr, type);
  if (typed.weak == Weak::Int && is_integer(type) && !fits(typed.expr, type)) {
    scope.diagnostics.add({.code = "TC112",
                           .range = typed.expr->range,
                           .message = str("'", print(typed.expr), "' does not fit ", name(type)),
                           .help = str("convert the other value to a wider type, or write ", name(type), "(",
                                       print(typed.expr), ") to wrap")});
    return nullptr;
  }
  return give_type(typed.expr, type);
}

}  // namespace tc::lang
