#include "tc/layout/rewrite/isl_index.h"

#include "tc/base/str.h"

namespace tc::layout {

using namespace lang;

IslIndex::IslIndex(const std::vector<std::string>& iterators, const std::string& prefix) {
  for (const auto& name : iterators) {
    variables_.push_back(str(prefix, variables_.size()));
    names_.emplace(name, variables_.back());
  }
}

std::string IslIndex::leading(std::size_t count) const {
  const auto begin = variables_.begin();
  return str("[", join(std::vector<std::string>(begin, begin + static_cast<std::ptrdiff_t>(count))), "]");
}

std::string IslIndex::box(const IteratorRanges& ranges) const {
  std::vector<std::string> all{"1 = 1"};
  for (const auto& [name, variable] : names_) {
    const auto& range = ranges.at(name);
    all.push_back(str(range.min, " <= ", variable, " < ", range.min + range.extent));
  }
  return join(all, " and ");
}

std::optional<std::string> IslIndex::tuple_of(const std::vector<ExprPtr>& exprs) const {
  std::vector<std::string> all;
  for (const auto& expr : exprs) {
    const auto text = index(expr);
    if (!text) return std::nullopt;
    all.push_back(*text);
  }
  return str("[", join(all), "]");
}

namespace {

/// The value of a literal, with a sign and conversions perhaps.
std::optional<std::int64_t> number_of(const ExprPtr& expr) {
  if (const auto* cast = std::get_if<Cast>(&expr->node)) return number_of(cast->value);
  if (const auto* number = std::get_if<IntLiteral>(&expr->node)) return static_cast<std::int64_t>(number->value);
  const auto* unary = std::get_if<Unary>(&expr->node);
  if (!unary || unary->op != UnaryOp::Negate) return std::nullopt;
  const auto value = number_of(unary->value);
  return value ? std::optional(-*value) : std::nullopt;
}

bool is_affine(const Binary& pair) {
  const auto right = number_of(pair.right);
  if (pair.op == BinaryOp::Div || pair.op == BinaryOp::Mod) return right && *right > 0;
  return pair.op != BinaryOp::Mul || number_of(pair.left) || right;
}

}  // namespace

std::optional<std::string> IslIndex::arithmetic(const Binary& pair) const {
  const auto left = index(pair.left), right = index(pair.right);
  if (!left || !right || !is_affine(pair)) return std::nullopt;
  switch (pair.op) {
    case BinaryOp::Add:
      return str("(", *left, " + ", *right, ")");
    case BinaryOp::Sub:
      return str("(", *left, " - ", *right, ")");
    case BinaryOp::Mul:
      if (const auto factor = number_of(pair.left)) return str("(", *factor, " * ", *right, ")");
      return str("(", *number_of(pair.right), " * ", *left, ")");
    case BinaryOp::Div:
      return str("(floor((0 + ", *left, ") / ", *number_of(pair.right), "))");
    case BinaryOp::Mod:
      return str("((0 + ", *left, ") mod ", *number_of(pair.right), ")");
    default:
      return std::nullopt;
  }
}

std::optional<std::string> IslIndex::index(const ExprPtr& expr) const {
  if (const auto* number = std::get_if<IntLiteral>(&expr->node)) return str(number->value);
  if (const auto* cast = std::get_if<Cast>(&expr->node); cast && cast->type == DType::Int64) return index(cast->value);
  if (const auto* name = std::get_if<Name>(&expr->node)) {
    const auto found = names_.find(name->id);
    return found == names_.end() ? std::nullopt : std::optional(found->second);
  }
  if (const auto* unary = std::get_if<Unary>(&expr->node); unary && unary->op == UnaryOp::Negate) {
    const auto value = index(unary->value);
    return value ? std::optional(str("(-1 * ", *value, ")")) : std::nullopt;
  }
  if (const auto* call = std::get_if<Call>(&expr->node);
      call && (call->function == "min" || call->function == "max") && call->arguments.size() == 2) {
    const auto a = index(call->arguments[0]), b = index(call->arguments[1]);
    return a && b ? std::optional(str(call->function, "(", *a, ", ", *b, ")")) : std::nullopt;
  }
  const auto* pair = std::get_if<Binary>(&expr->node);
  return pair ? arithmetic(*pair) : std::nullopt;
}

std::optional<std::string> IslIndex::condition(const ExprPtr& expr) const {
  const auto* pair = std::get_if<Binary>(&expr->node);
  if (!pair) return std::nullopt;
  if (pair->op == BinaryOp::And) {
    const auto a = condition(pair->left), b = condition(pair->right);
    return a && b ? std::optional(str("(", *a, " and ", *b, ")")) : std::nullopt;
  }
  if (pair->op != BinaryOp::Lt && pair->op != BinaryOp::Ge) return std::nullopt;
  const auto a = index(pair->left), b = index(pair->right);
  if (!a || !b) return std::nullopt;
  return str("(", *a, pair->op == BinaryOp::Lt ? " < " : " >= ", *b, ")");
}

}  // namespace tc::layout
