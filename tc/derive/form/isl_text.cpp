#include "tc/derive/form/isl_text.h"

#include <algorithm>
#include <optional>

#include "tc/base/str.h"
#include "tc/derive/form/refusal.h"
#include "tc/lang/syntax/operators.h"

namespace tc::derive {

using lang::BinaryOp;
using lang::ExprPtr;

std::vector<std::string> dimension_names(int count, int first) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(str("i", first + i));
  return names;
}

std::string tuple_text(int count) { return str("[", join(dimension_names(count)), "]"); }

isl::set box_set(isl::ctx ctx, const lang::Box& box) {
  std::vector<std::string> bounds{"true"};
  for (std::size_t d = 0; d < box.size(); ++d)
    bounds.push_back(str(box[d].min, " <= i", d, " < ", box[d].min + box[d].extent));
  return isl::set(ctx, str("{ ", tuple_text(static_cast<int>(box.size())), " : ", join(bounds, " and "), " }"));
}

isl::multi_aff function(isl::ctx ctx, int dimensions, const std::vector<std::string>& values) {
  std::vector<std::string> all;
  for (const auto& value : values) all.push_back(str("(", value, ")"));
  return isl::multi_aff(ctx, str("{ ", tuple_text(dimensions), " -> [", join(all), "] }"));
}

isl::multi_aff projection(isl::ctx ctx, int dimensions, const std::vector<int>& kept) {
  std::vector<std::string> values;
  for (int d : kept) values.push_back(str("i", d));
  return function(ctx, dimensions, values);
}

namespace {

/// The value of an expression of literals.
std::optional<std::int64_t> constant(const ExprPtr& expr) {
  if (const auto* literal = std::get_if<lang::IntLiteral>(&expr->node))
    return static_cast<std::int64_t>(literal->value);
  if (const auto* cast = std::get_if<lang::Cast>(&expr->node)) return constant(cast->value);
  if (const auto* unary = std::get_if<lang::Unary>(&expr->node); unary && unary->op == lang::UnaryOp::Negate)
    if (const auto value = constant(unary->value)) return -*value;
  const auto* binary = std::get_if<lang::Binary>(&expr->node);
  if (!binary) return std::nullopt;
  const auto a = constant(binary->left), b = constant(binary->right);
  if (!a || !b) return std::nullopt;
  if (binary->op == BinaryOp::Add) return *a + *b;
  if (binary->op == BinaryOp::Sub) return *a - *b;
  if (binary->op == BinaryOp::Mul) return *a * *b;
  return std::nullopt;
}

std::string binary_text(const lang::Binary& binary, const std::vector<std::string>& iterators) {
  const auto left = index_text(binary.left, iterators);
  const auto value = constant(binary.right);
  switch (binary.op) {
    case BinaryOp::Add:
      return str("(", left, " + ", index_text(binary.right, iterators), ")");
    case BinaryOp::Sub:
      return str("(", left, " - ", index_text(binary.right, iterators), ")");
    case BinaryOp::Mul:
      if (value) return str(*value, " * ", left);
      if (const auto first = constant(binary.left)) return str(*first, " * ", index_text(binary.right, iterators));
      break;
    case BinaryOp::Div:
      if (value && *value > 0) return str("floor(", left, " / ", *value, ")");
      break;
    case BinaryOp::Mod:
      if (value && *value > 0) return str("(", left, " mod ", *value, ")");
      break;
    default:
      break;
  }
  throw Refusal{"a subscript is not a sum of iterators times numbers, and quotients of these"};
}

}  // namespace

std::string index_text(const ExprPtr& expr, const std::vector<std::string>& iterators) {
  if (const auto value = constant(expr)) return str("(", *value, ")");
  if (const auto* cast = std::get_if<lang::Cast>(&expr->node)) return index_text(cast->value, iterators);
  if (const auto* name = std::get_if<lang::Name>(&expr->node)) {
    const auto found = std::find(iterators.begin(), iterators.end(), name->id);
    if (found == iterators.end()) throw Refusal{str("'", name->id, "' is no iterator")};
    return str("i", found - iterators.begin());
  }
  if (const auto* unary = std::get_if<lang::Unary>(&expr->node); unary && unary->op == lang::UnaryOp::Negate)
    return str("(-", index_text(unary->value, iterators), ")");
  if (const auto* binary = std::get_if<lang::Binary>(&expr->node)) return binary_text(*binary, iterators);
  throw Refusal{"a subscript is not made of iterators and numbers"};
}

isl::set condition_set(isl::ctx ctx, const ExprPtr& expr, const std::vector<std::string>& iterators) {
  if (const auto* literal = std::get_if<lang::BoolLiteral>(&expr->node))
    return isl::set(
        ctx, str("{ ", tuple_text(static_cast<int>(iterators.size())), " : ", literal->value ? "true" : "false", " }"));
  if (const auto* unary = std::get_if<lang::Unary>(&expr->node); unary && unary->op == lang::UnaryOp::Not)
    return condition_set(ctx, unary->value, iterators).complement();
  const auto* binary = std::get_if<lang::Binary>(&expr->node);
  if (!binary) throw Refusal{"a condition is not one on indices"};
  if (binary->op == BinaryOp::And)
    return condition_set(ctx, binary->left, iterators).intersect(condition_set(ctx, binary->right, iterators));
  if (binary->op == BinaryOp::Or)
    return condition_set(ctx, binary->left, iterators).unite(condition_set(ctx, binary->right, iterators));
  if (!lang::is_comparison(binary->op)) throw Refusal{"a condition is no comparison of indices"};
  const std::string compare = lang::isl_comparison(binary->op);
  return isl::set(
      ctx, str("{ ", tuple_text(static_cast<int>(iterators.size())), " : ", index_text(binary->left, iterators), " ",
               compare, " ", index_text(binary->right, iterators), " }"));
}

}  // namespace tc::derive
