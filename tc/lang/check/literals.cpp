#include <algorithm>
#include <limits>

#include "tc/base/str.h"
#include "tc/lang/check/type_expr.h"
#include "tc/lang/syntax/builtins.h"
#include "tc/lang/syntax/operators.h"
#include "tc/lang/syntax/print.h"

namespace tc::lang {
namespace {

std::uint64_t largest(DType type) {
  const int bits = bit_size(type) - (is_signed_integer(type) ? 1 : 0);
  return bits == 64 ? std::numeric_limits<std::uint64_t>::max() : (std::uint64_t{1} << bits) - 1;
}

/// How many of the first parts of \p expr are conditions, not values.
std::size_t conditions(const ExprPtr& expr) {
  const auto* call = std::get_if<Call>(&expr->node);
  return std::holds_alternative<Select>(expr->node) || (call && call->function == "select") ? 1 : 0;
}

std::vector<ExprPtr> values(const ExprPtr& expr) {
  auto parts = children(expr);
  parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(conditions(expr)));
  return parts;
}

/// Do the literals of the weak integer \p expr fit the integer \p type? A negated one as its negative.
bool fits(const ExprPtr& expr, DType type, const std::map<std::string, LetState>& lets = {}, bool negated = false) {
  if (const auto* name = std::get_if<Name>(&expr->node)) {
    const auto let = lets.find(name->id);
    return let == lets.end() || fits(let->second.value, type, lets, negated);
  }
  if (const auto* literal = std::get_if<IntLiteral>(&expr->node)) {
    if (!negated) return literal->value <= largest(type);
    return is_signed_integer(type) ? literal->value <= largest(type) + 1 : literal->value == 0;
  }
  if (const auto* pair = std::get_if<Binary>(&expr->node); pair && is_shift(pair->op)) {
    const auto* amount = std::get_if<IntLiteral>(&pair->right->node);
    if (amount) return amount->value < static_cast<std::uint64_t>(bit_size(type)) && fits(pair->left, type, lets);
  }
  const auto* unary = std::get_if<Unary>(&expr->node);
  const bool flips = unary && unary->op == UnaryOp::Negate;
  const auto parts = values(expr);
  return std::all_of(parts.begin(), parts.end(),
                     [&](const ExprPtr& part) { return fits(part, type, lets, flips && !negated); });
}

DType natural_int(const ExprPtr& expr) {
  if (expr->type) return *expr->type;
  return fits(expr, DType::Int32) ? DType::Int32 : fits(expr, DType::Int64) ? DType::Int64 : DType::UInt64;
}

/// Is the weak \p expr an integer, that is, without a float literal or a function that gives floats?
bool is_weak_int(const ExprPtr& expr) {
  if (expr->type) return !is_float(*expr->type);
  if (std::holds_alternative<FloatLiteral>(expr->node)) return false;
  if (const auto* call = std::get_if<Call>(&expr->node);
      call && find_builtin(call->function)->kind == BuiltinKind::Float)
    return false;
  const auto parts = values(expr);
  return std::all_of(parts.begin(), parts.end(), is_weak_int);
}

}  // namespace

ExprPtr give_type(const ExprPtr& expr, DType type) {
  if (expr->type) return cast_to(expr, type);
  if (is_float(type) && is_weak_int(expr)) return cast_to(give_type(expr, natural_int(expr)), type);
  auto parts = children(expr);
  for (std::size_t i = conditions(expr); i < parts.size(); ++i) parts[i] = give_type(parts[i], type);
  const ExprPtr rebuilt = with_children(expr, parts);
  return make_expr(rebuilt->node, expr->range, type);
}

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
  if (typed.weak == Weak::Int && is_integer(type) && !fits(typed.expr, type, scope.lets)) {
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
