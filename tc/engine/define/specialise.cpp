#include "tc/engine/define/specialise.h"

#include <algorithm>

#include "tc/base/str.h"
#include "tc/lang/syntax/print.h"

namespace tc::engine {
namespace {

lang::ExprPtr number(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  const auto literal = lang::make_expr(lang::IntLiteral{value < 0 ? 0 - bits : bits});
  return value < 0 ? lang::make_expr(lang::Unary{lang::UnaryOp::Negate, literal}) : literal;
}

/// \p expr with numbers in the places of parameters that \p values has, of the parameter's type where one is read.
lang::ExprPtr with_values(const lang::ExprPtr& expr, const lang::SizeMap& values) {
  const auto* name = std::get_if<lang::Name>(&expr->node);
  const auto* access = std::get_if<lang::Access>(&expr->node);
  const auto found = values.find(name ? name->id : access && access->subscripts.empty() ? access->tensor : "");
  if (name && found != values.end()) return number(found->second);
  if (access && found != values.end()) return lang::make_expr(lang::Cast{*expr->type, number(found->second), false});
  auto parts = lang::children(expr);
  for (auto& part : parts) part = with_values(part, values);
  return lang::with_children(expr, parts);
}

}  // namespace

std::vector<std::string> valued_parameters(const lang::Def& def) {
  std::vector<std::string> result;
  for (const auto& param : def.params)
    if (!param.dims && std::count(def.sizes.begin(), def.sizes.end(), param.name) > 0) result.push_back(param.name);
  return result;
}

std::string specialised_text(const std::shared_ptr<const Function>& function, const lang::SizeMap& values) {
  lang::Def def = inlined(function)->def;
  lang::SizeMap used;
  for (const auto& name : valued_parameters(def)) {
    if (!values.count(name))
      throw ArgumentError(str("'", function->name(), "' needs the value of '", name, "', of which ranges are made"));
    used[name] = values.at(name);
  }
  for (auto& decl : def.returns)
    if (decl.dims)
      for (auto& dim : *decl.dims) dim = with_values(dim, used);
  for (auto& statement : def.statements)
    for_each_value(std::get<lang::Assignment>(statement.node),
                   [&](lang::ExprPtr& value) { value = with_values(value, used); });
  return lang::print(def);
}

std::shared_ptr<const Function> specialised(const std::shared_ptr<const Function>& function,
                                            const lang::SizeMap& values) {
  if (valued_parameters(function->def).empty()) return function;
  const std::string text = specialised_text(function, values);
  try {
    return define(text, function->file->name).function(function->name());
  } catch (const SemanticError& error) {
    std::vector<std::string> given;
    for (const auto& name : valued_parameters(function->def)) given.push_back(str(name, " = ", values.at(name)));
    throw ArgumentError(str("'", function->name(), "' cannot have ", join(given), ": ", error.what()));
  }
}

}  // namespace tc::engine
