#include "tc/lang/syntax/shadowing.h"

#include "tc/base/str.h"
#include "tc/lang/syntax/builtins.h"

namespace tc::lang {
namespace {

std::string written_name(const Call& call) { return call.text.empty() ? call.function : call.text; }

/// \p expr with change(call) in the place of each call of a function that has the name of one of \p tensors.
template <typename Change>
ExprPtr with_changed_calls(const ExprPtr& expr, const std::set<std::string>& tensors, const Change& change) {
  auto parts = children(expr);
  for (auto& part : parts) part = with_changed_calls(part, tensors, change);
  const auto result = with_children(expr, parts);
  const auto* call = std::get_if<Call>(&result->node);
  if (!call || !tensors.count(written_name(*call))) return result;
  return make_expr(change(*call), expr->range, expr->type);
}

template <typename Change>
void change_calls(Def& def, const std::set<std::string>& tensors, const Change& change) {
  if (tensors.empty()) return;
  for (auto& statement : def.statements)
    if (auto* assignment = std::get_if<Assignment>(&statement.node)) {
      for (auto& subscript : assignment->subscripts) subscript = with_changed_calls(subscript, tensors, change);
      for_each_value(*assignment, [&](ExprPtr& value) { value = with_changed_calls(value, tensors, change); });
    }
}

}  // namespace

std::set<std::string> shadowing_tensors(const Def& def) {
  std::set<std::string> names;
  const auto add = [&](const std::string& name) {
    if (find_function(name)) names.insert(name);
  };
  for (const auto* decls : {&def.params, &def.returns})
    for (const auto& decl : *decls) add(decl.name);
  for (const auto& statement : def.statements)
    if (const auto* assignment = std::get_if<Assignment>(&statement.node))
      add(assignment->target);
    else
      for (const auto& result : std::get<CallStatement>(statement.node).results) add(result);
  return names;
}

void read_shadowing_tensors(Def& def) {
  change_calls(def, shadowing_tensors(def),
               [](const Call& call) -> Expr::Node { return Access{written_name(call), call.arguments}; });
}

Def with_qualified_calls(Def def) {
  change_calls(def, shadowing_tensors(def), [](const Call& call) -> Expr::Node {
    return Call{call.function, call.arguments, str("tc.", written_name(call))};
  });
  return def;
}

}  // namespace tc::lang
