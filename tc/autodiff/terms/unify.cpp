#include "tc/autodiff/terms/unify.h"

#include "tc/base/str.h"
#include "tc/lang/syntax/operators.h"
#include "tc/lang/syntax/print.h"

namespace tc::autodiff {

using namespace lang;

namespace {

/// Are the nodes equal but for their sub-expressions?
bool same_node(const ExprPtr& a, const ExprPtr& b) {
  return a->node.index() == b->node.index() && equal(with_children(a, children(b)), b);
}

bool match(const ExprPtr& pattern, const ExprPtr& expr, const std::set<std::string>& variables, Renaming& known) {
  const ExprPtr a = written(pattern), b = written(expr);
  if (const auto* name = std::get_if<Name>(&a->node); name && variables.count(name->id)) {
    const auto [found, added] = known.emplace(name->id, b);
    return added || equal(found->second, b);
  }
  const auto left = children(a), right = children(b);
  if (left.size() != right.size() || !same_node(a, b)) return false;
  for (std::size_t i = 0; i < left.size(); ++i)
    if (!match(left[i], right[i], variables, known)) return false;
  return true;
}

}  // namespace

std::optional<Renaming> unify(const ExprPtr& pattern, const ExprPtr& expr, const std::set<std::string>& variables,
                              Renaming known) {
  if (!match(pattern, expr, variables, known)) return std::nullopt;
  return known;
}

std::string outline(const ExprPtr& expr) {
  const ExprPtr value = written(expr);
  if (value->type == DType::Int64) return "_";
  const auto parts = children(value);
  if (parts.empty()) return print(value);
  std::string text = std::visit(
      overloaded{[](const Access& x) { return x.tensor; }, [](const Call& x) { return x.function; },
                 [](const Binary& x) { return str(symbol(x.op)); }, [](const Cast& x) { return str(x.type); },
                 [&](const auto&) { return str("#", value->node.index()); }},
      value->node);
  for (const ExprPtr& part : parts) text += "(" + outline(part) + ")";
  return text;
}

}  // namespace tc::autodiff
