#include <algorithm>

#include "tc/base/str.h"
#include "tc/lang/check/short_forms.h"
#include "tc/lang/check/type_expr.h"
#include "tc/lang/syntax/print.h"

namespace tc::lang {
namespace {

/// Is \p expr a sum, product, quotient or the like?
bool is_arithmetic(const ExprPtr& expr) {
  const auto* binary = std::get_if<Binary>(&expr->node);
  return !binary || binary->op <= BinaryOp::Mod;
}

/// What in \p expr is not allowed in a size expression, to be followed by the place; empty if there is nothing.
std::string not_of_sizes(const ExprPtr& expr, const Scope& scope, const std::string& what) {
  if (const auto* access = std::get_if<Access>(&expr->node))
    return str("the tensor '", access->tensor, "' cannot be read in ", what);
  if (const auto* name = std::get_if<Name>(&expr->node)) {
    if (name->kind == Name::Kind::Iterator) return str("the index '", name->id, "' cannot be used in ", what);
    const auto let = scope.lets.find(name->id);
    if (let != scope.lets.end() && !let->second.over_sizes)
      return str("'", name->id, "' cannot be used in ", what, ": it holds more than sizes");
    return {};
  }
  const auto* binary = std::get_if<Binary>(&expr->node);
  const auto* call = std::get_if<Call>(&expr->node);
  const auto* cast = std::get_if<Cast>(&expr->node);
  const bool operation = std::holds_alternative<Unary>(expr->node) ||
                         (binary && is_arithmetic(without_short_forms(expr))) ||
                         (call && (call->function == "min" || call->function == "max")) || (cast && cast->implicit);
  if (!operation && !children(expr).empty()) return str("'", print(expr), "' cannot be used in ", what);
  return {};
}

}  // namespace

ExprPtr with_parameter_values(const ExprPtr& expr, Scope& scope) {
  const auto* name = std::get_if<Name>(&expr->node);
  const auto* access = std::get_if<Access>(&expr->node);
  const std::string id = name ? name->id : access && access->subscripts.empty() ? access->tensor : "";
  if (scope.is_integer_parameter(id) && !scope.is_size(id)) {
    if (std::find(scope.valued.begin(), scope.valued.end(), id) == scope.valued.end()) scope.valued.push_back(id);
    return make_expr(Name{id, Name::Kind::Size}, expr->range, DType::Int64);
  }
  auto parts = children(expr);
  for (auto& part : parts) part = with_parameter_values(part, scope);
  const auto* cast = std::get_if<Cast>(&expr->node);
  return cast && cast->implicit && parts[0]->type == cast->type ? parts[0] : with_children(expr, parts);
}

bool check_size_expr(const ExprPtr& expr, Scope& scope, const std::string& what) {
  if (const auto message = not_of_sizes(expr, scope, what); !message.empty()) {
    scope.diagnostics.add({.code = "TC114",
                           .range = expr->range,
                           .message = message,
                           .note = "sizes, constants, integer scalar parameters and their sums, products and quotients "
                                   "are known before anything runs"});
    return false;
  }
  bool good = true;
  for (const auto& child : children(expr)) good = check_size_expr(child, scope, what) && good;
  return good;
}

bool is_size_expr(const ExprPtr& expr, const Scope& scope) {
  if (!not_of_sizes(expr, scope, "").empty()) return false;
  for (const auto& child : children(expr))
    if (!is_size_expr(child, scope)) return false;
  return true;
}

}  // namespace tc::lang
