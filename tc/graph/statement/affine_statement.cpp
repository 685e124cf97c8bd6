#include "tc/graph/statement/affine_statement.h"

#include "tc/base/contains.h"
#include "tc/lang/syntax/substitute.h"

namespace tc::graph {
namespace {

using lang::BinaryOp;
using lang::ExprPtr;

bool is_zero(const ExprPtr& expr) {
  if (const auto* cast = std::get_if<lang::Cast>(&expr->node)) return is_zero(cast->value);
  if (const auto* number = std::get_if<lang::IntLiteral>(&expr->node)) return number->value == 0;
  const auto* number = std::get_if<lang::FloatLiteral>(&expr->node);
  return number && number->value == 0;
}

ExprPtr combined(BinaryOp op, const ExprPtr& value, const AffineStep& step) {
  if (step.value_is_right) return lang::make_expr(lang::Binary{op, step.operand, value});
  return lang::make_expr(lang::Binary{op, value, step.operand});
}

ExprPtr negated(const ExprPtr& value) { return lang::make_expr(lang::Unary{lang::UnaryOp::Negate, value}); }

/// \p operand, whose type does not depend on what it stands beside.
ExprPtr typed(const ExprPtr& operand) {
  const auto* cast = std::get_if<lang::Cast>(&operand->node);
  if (!cast || !cast->implicit || lang::has_literal_type(operand)) return operand;
  return lang::make_expr(lang::Cast{cast->type, cast->value, false}, operand->range, operand->type);
}

std::optional<AffineStep> step_of(const lang::Binary& binary, const std::string& tensor) {
  const bool left = contains(tensors_in(binary.left), tensor), right = contains(tensors_in(binary.right), tensor);
  const bool is_arithmetic = binary.op == BinaryOp::Add || binary.op == BinaryOp::Sub || binary.op == BinaryOp::Mul ||
                             binary.op == BinaryOp::Div;
  if (left == right || !is_arithmetic || (right && binary.op == BinaryOp::Div)) return std::nullopt;
  return AffineStep{binary.op, typed(left ? binary.right : binary.left), right};
}

}  // namespace

std::optional<std::vector<AffineStep>> affine_steps(const ExprPtr& expr, const std::string& tensor) {
  if (const auto* access = std::get_if<lang::Access>(&expr->node)) {
    if (access->tensor != tensor || tensors_in(expr).size() > 1) return std::nullopt;
    return std::vector<AffineStep>();
  }
  const auto* unary = std::get_if<lang::Unary>(&expr->node);
  const auto* binary = std::get_if<lang::Binary>(&expr->node);
  if (!binary && !(unary && unary->op == lang::UnaryOp::Negate)) return std::nullopt;
  const auto step = unary ? AffineStep() : step_of(*binary, tensor);
  if (!step) return std::nullopt;
  auto steps = affine_steps(unary ? unary->value : step->value_is_right ? binary->right : binary->left, tensor);
  if (steps) steps->push_back(*step);
  return steps;
}

ExprPtr scaled(ExprPtr value, const std::vector<AffineStep>& steps) {
  for (const auto& step : steps) {
    if (!step.scales()) continue;
    value = step.operand && step.op != BinaryOp::Sub ? combined(step.op, value, step) : negated(value);
  }
  return value;
}

ExprPtr shift_of(const std::vector<AffineStep>& steps) {
  ExprPtr shift;
  for (const auto& step : steps) {
    const bool adds = step.operand && (step.op == BinaryOp::Add || step.op == BinaryOp::Sub);
    if (shift)
      shift = step.operand ? combined(step.op, shift, step) : negated(shift);
    else if (adds)
      shift = step.op == BinaryOp::Sub && !step.value_is_right ? negated(step.operand) : step.operand;
  }
  return shift;
}

std::vector<ExprPtr> factors_of(const ExprPtr& product) {
  if (std::holds_alternative<lang::Access>(product->node)) return {product};
  if (const auto* unary = std::get_if<lang::Unary>(&product->node); unary && unary->op == lang::UnaryOp::Negate)
    return factors_of(unary->value);
  if (const auto* select = std::get_if<lang::Select>(&product->node)) {
    if (is_zero(select->else_value)) return factors_of(select->then_value);
    return is_zero(select->then_value) ? factors_of(select->else_value) : std::vector<ExprPtr>();
  }
  const auto* binary = std::get_if<lang::Binary>(&product->node);
  if (!binary || (binary->op != BinaryOp::Mul && binary->op != BinaryOp::Div)) return {};
  auto result = factors_of(binary->left);
  if (binary->op == BinaryOp::Div) return result;
  for (auto& factor : factors_of(binary->right)) result.push_back(std::move(factor));
  return result;
}

ExprPtr replaced(const ExprPtr& expr, const std::function<ExprPtr(const ExprPtr&)>& change) {
  if (auto other = change(expr)) return other;
  auto parts = lang::children(expr);
  for (auto& part : parts) part = replaced(part, change);
  return parts.empty() ? expr : lang::with_children(expr, parts);
}

std::vector<std::string> tensors_in(const ExprPtr& expr) {
  std::vector<std::string> result;
  lang::for_each_expr(expr, [&](const ExprPtr& part) {
    if (const auto* access = std::get_if<lang::Access>(&part->node)) result.push_back(access->tensor);
  });
  return result;
}

}  // namespace tc::graph
