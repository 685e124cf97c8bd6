#include "tc/derive/form/stated_ranges.h"

namespace tc::derive {

namespace {

bool is_number(const lang::ExprPtr& expr) {
  if (const auto* unary = std::get_if<lang::Unary>(&expr->node))
    return unary->op == lang::UnaryOp::Negate && is_number(unary->value);
  return std::holds_alternative<lang::IntLiteral>(expr->node);
}

/// The ranges of \p assignment; false where one of them is not stated as numbers.
bool add_stated(const lang::Assignment& assignment, std::map<std::string, lang::Range>& ranges) {
  for (const auto& clause : assignment.clauses) {
    const auto* stated = std::get_if<lang::RangeClause>(&clause.node);
    if (!stated || !is_number(stated->low) || !is_number(stated->high)) return false;
    const auto extent = lang::make_expr(lang::Binary{lang::BinaryOp::Sub, stated->high, stated->low});
    ranges[stated->index] = {stated->low, extent};
  }
  for (const auto& name : assignment.reduction_iterators)
    if (!ranges.count(name)) return false;
  return true;
}

}  // namespace

std::optional<lang::Ranges> stated_ranges(const lang::Def& def) {
  lang::Ranges result;
  const auto zero = lang::make_expr(lang::IntLiteral{0});
  for (const auto& param : def.params) {
    auto& box = result.tensors[param.name];
    if (!param.dims) return std::nullopt;
    for (const auto& size : *param.dims) {
      if (!is_number(size)) return std::nullopt;
      box.push_back({zero, size});
    }
  }
  for (const auto& statement : def.statements) {
    const auto* assignment = std::get_if<lang::Assignment>(&statement.node);
    auto& ranges = result.statements.emplace_back();
    if (!assignment || !add_stated(*assignment, ranges)) return std::nullopt;
    const auto [box, is_new] = result.tensors.emplace(assignment->target, std::vector<lang::Range>());
    if (!is_new) return std::nullopt;
    for (const auto& name : lang::left_iterators(*assignment)) {
      if (!ranges.count(name)) return std::nullopt;
      box->second.push_back(ranges.at(name));
    }
  }
  return result;
}

}  // namespace tc::derive
