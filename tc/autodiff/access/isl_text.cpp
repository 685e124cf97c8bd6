#include "tc/autodiff/access/isl_text.h"

#include "tc/autodiff/terms/affine.h"
#include "tc/base/str.h"
#include "tc/lang/syntax/names_in.h"
#include "tc/lang/syntax/operators.h"
#include "tc/lang/syntax/print.h"

namespace tc::autodiff {

using namespace lang;

std::string IslParameters::text() const {
  std::vector<std::string> all;
  for (const auto& [text, name] : names) all.push_back(name);
  return str("[", join(all), "] -> ");
}

IslText::IslText(const std::vector<std::string>& iterators, IslParameters& parameters) : parameters_(parameters) {
  for (const auto& name : iterators) iterators_.emplace(name, str("i", iterators_.size()));
}

std::string IslText::parameter(const ExprPtr& expr) {
  parameters_.identifiers.merge(names_in(expr));
  return parameters_.names.emplace(print(expr), str("p", parameters_.names.size())).first->second;
}

std::string IslText::part(const ExprPtr& expr) {
  if (const auto* name = std::get_if<Name>(&expr->node))
    if (auto found = iterators_.find(name->id); found != iterators_.end()) return found->second;
  const auto* pair = std::get_if<Binary>(&expr->node);
  const auto divisor = pair ? constant_value(pair->right) : std::nullopt;
  if (divisor && *divisor > 0 && pair->op == BinaryOp::Div)
    return str("floor((", index(pair->left), ")/", static_cast<std::int64_t>(*divisor), ")");
  if (divisor && *divisor > 0 && pair->op == BinaryOp::Mod)
    return str("((", index(pair->left), ") mod ", static_cast<std::int64_t>(*divisor), ")");
  if (const auto* call = std::get_if<Call>(&expr->node); call && (call->function == "min" || call->function == "max"))
    return str(call->function, "(", index(call->arguments[0]), ", ", index(call->arguments[1]), ")");
  for (const auto& name : names_in(expr)) exact_ = exact_ && !iterators_.count(name);
  exact_ = exact_ && tensors_in(expr).empty();
  return parameter(expr);
}

std::string IslText::index(const ExprPtr& expr) {
  const Affine form = read_affine(expr);
  std::string text = str("(", form.constant);
  for (const auto& [name, p] : form.parts) text += str(" + ", p.coefficient, " * ", part(p.expr));
  return text + ")";
}

std::optional<std::string> IslText::condition(const ExprPtr& expr) {
  if (const auto* literal = std::get_if<BoolLiteral>(&expr->node)) return literal->value ? "(1 = 1)" : "(1 = 0)";
  if (const auto* unary = std::get_if<Unary>(&expr->node); unary && unary->op == UnaryOp::Not) {
    const auto inner = condition(unary->value);
    return inner ? std::optional(str("(not ", *inner, ")")) : std::nullopt;
  }
  const auto* pair = std::get_if<Binary>(&expr->node);
  if (!pair) return std::nullopt;
  if (pair->op == BinaryOp::And || pair->op == BinaryOp::Or) {
    const auto left = condition(pair->left), right = condition(pair->right);
    if (!left || !right) return std::nullopt;
    return str("(", *left, pair->op == BinaryOp::And ? " and " : " or ", *right, ")");
  }
  if (!is_comparison(pair->op) || pair->left->type != DType::Int64 || !tensors_in(expr).empty()) return std::nullopt;
  return str("(", index(pair->left), " ", isl_comparison(pair->op), " ", index(pair->right), ")");
}

std::string IslText::range(const IteratorRange& range) {
  const std::string name = iterators_.at(range.name);
  return str("(", index(range.low), " <= ", name, " and ", name, " < ", index(range.high), ")");
}

std::string IslText::tuple(const std::vector<std::string>& iterators) {
  std::vector<std::string> names;
  for (const auto& iterator : iterators) names.push_back(iterators_.at(iterator));
  return str("[", join(names), "]");
}

}  // namespace tc::autodiff
