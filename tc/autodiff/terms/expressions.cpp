#include "tc/autodiff/terms/expressions.h"

#include "tc/lang/syntax/names_in.h"
#include "tc/lang/syntax/operators.h"

#include <cmath>
#include <optional>

namespace tc::autodiff {

using namespace lang;

ExprPtr integer(std::int64_t value) {
  if (value < 0) return make_expr(Unary{UnaryOp::Negate, integer(-value)}, {}, DType::Int64);
  return make_expr(IntLiteral{static_cast<std::uint64_t>(value)}, {}, DType::Int64);
}

ExprPtr number(double value, DType type) {
  if (std::signbit(value)) return make_expr(Unary{UnaryOp::Negate, number(-value, type)}, {}, type);
  const bool whole = value == std::floor(value) && value < 1e9;
  if (whole) return make_expr(IntLiteral{static_cast<std::uint64_t>(value)}, {}, type);
  return make_expr(FloatLiteral{value, ""}, {}, type);
}

ExprPtr index_name(const std::string& id) { return make_expr(Name{id, Name::Kind::Iterator}, {}, DType::Int64); }

ExprPtr access(const std::string& tensor, std::vector<ExprPtr> subscripts, DType type) {
  const bool bare = subscripts.empty();
  return make_expr(Access{tensor, std::move(subscripts), bare}, {}, type);
}

ExprPtr access_at(const std::string& tensor, const std::vector<std::string>& iterators, DType type) {
  std::vector<ExprPtr> subscripts;
  for (const auto& iterator : iterators) subscripts.push_back(index_name(iterator));
  return access(tensor, std::move(subscripts), type);
}

ExprPtr call(const std::string& function, std::vector<ExprPtr> arguments) {
  const auto type = arguments.front()->type;
  return make_expr(Call{function, std::move(arguments)}, {}, type);
}

ExprPtr binary(BinaryOp op, const ExprPtr& left, const ExprPtr& right) {
  const bool truth = gives_truth(op);
  return make_expr(Binary{op, left, right}, {}, truth ? std::optional(DType::Bool) : left->type);
}

ExprPtr negation(const ExprPtr& value) { return make_expr(Unary{UnaryOp::Negate, value}, {}, value->type); }

ExprPtr cast(DType type, const ExprPtr& value) { return make_expr(Cast{type, value, false}, {}, type); }

ExprPtr opposite(const ExprPtr& condition) {
  if (const auto* unary = std::get_if<Unary>(&condition->node); unary && unary->op == UnaryOp::Not) return unary->value;
  const auto* pair = std::get_if<Binary>(&condition->node);
  if (pair && pair->left->type && is_integer(*pair->left->type)) {
    static const auto& turned = *new std::map<BinaryOp, BinaryOp>{
        {BinaryOp::Lt, BinaryOp::Ge}, {BinaryOp::Ge, BinaryOp::Lt}, {BinaryOp::Gt, BinaryOp::Le},
        {BinaryOp::Le, BinaryOp::Gt}, {BinaryOp::Eq, BinaryOp::Ne}, {BinaryOp::Ne, BinaryOp::Eq}};
    if (auto found = turned.find(pair->op); found != turned.end())
      return binary(found->second, pair->left, pair->right);
  }
  return make_expr(Unary{UnaryOp::Not, condition}, {}, DType::Bool);
}

ExprPtr conjunction(const std::vector<ExprPtr>& conditions) {
  ExprPtr all;
  for (const ExprPtr& condition : conditions) all = all ? binary(BinaryOp::And, all, condition) : condition;
  return all ? all : make_expr(BoolLiteral{true}, {}, DType::Bool);
}

std::vector<ExprPtr> conjuncts(const ExprPtr& condition) {
  const auto* pair = std::get_if<Binary>(&condition->node);
  if (!pair || pair->op != BinaryOp::And) return {condition};
  std::vector<ExprPtr> all = conjuncts(pair->left);
  for (const ExprPtr& part : conjuncts(pair->right)) all.push_back(part);
  return all;
}

ExprPtr written(ExprPtr expr) {
  for (;;) {
    const auto* cast = std::get_if<Cast>(&expr->node);
    if (!cast || !cast->implicit) return expr;
    expr = cast->value;
  }
}

std::optional<double> constant_value(const ExprPtr& expr) {
  if (const auto* literal = std::get_if<IntLiteral>(&expr->node)) return static_cast<double>(literal->value);
  if (const auto* literal = std::get_if<FloatLiteral>(&expr->node)) return literal->value;
  if (const auto* cast = std::get_if<Cast>(&expr->node); cast && is_float(cast->type))
    return constant_value(cast->value);
  if (const auto* unary = std::get_if<Unary>(&expr->node); unary && unary->op == UnaryOp::Negate) {
    const auto value = constant_value(unary->value);
    return value ? std::optional(-*value) : std::nullopt;
  }
  return std::nullopt;
}

bool mentions_any(const ExprPtr& expr, const std::set<std::string>& names) {
  for (const auto& name : names_in(expr))
    if (names.count(name)) return true;
  return false;
}

std::set<std::string> tensors_in(const ExprPtr& expr) {
  std::set<std::string> tensors;
  for_each_expr(expr, [&](const ExprPtr& part) {
    if (const auto* read = std::get_if<Access>(&part->node)) tensors.insert(read->tensor);
  });
  return tensors;
}

ExprPtr replace_names(const ExprPtr& expr, const Renaming& names) {
  return rebuild(expr, [&](const ExprPtr& part) {
    const auto* name = std::get_if<Name>(&part->node);
    const auto found = name ? names.find(name->id) : names.end();
    return found == names.end() ? part : found->second;
  });
}

ExprPtr rename_tensors(const ExprPtr& expr, const std::map<std::string, std::string>& tensors) {
  return rebuild(expr, [&](const ExprPtr& part) {
    const auto* read = std::get_if<Access>(&part->node);
    const auto found = read ? tensors.find(read->tensor) : tensors.end();
    if (found == tensors.end()) return part;
    Access renamed = *read;
    renamed.tensor = found->second;
    return make_expr(std::move(renamed), part->range, part->type);
  });
}

}  // namespace tc::autodiff
