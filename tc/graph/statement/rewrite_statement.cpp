#include "tc/graph/statement/rewrite_statement.h"

#include <algorithm>
#include <cstdlib>

#include "tc/base/contains.h"
#include "tc/base/str.h"

namespace tc::graph {

using lang::ExprPtr;

bool reads(const lang::Statement& statement, const std::string& tensor) {
  if (const auto* call = std::get_if<lang::CallStatement>(&statement.node)) return contains(call->arguments, tensor);
  const auto& assignment = std::get<lang::Assignment>(statement.node);
  bool found = false;
  auto look = [&](const ExprPtr& root) {
    lang::for_each_expr(root, [&](const ExprPtr& expr) {
      const auto* access = std::get_if<lang::Access>(&expr->node);
      const auto* name = std::get_if<lang::Name>(&expr->node);
      found = found || (access && access->tensor == tensor) || (name && name->id == tensor);
    });
  };
  look(assignment.rhs);
  for (const auto& clause : assignment.clauses)
    if (const auto* exists = std::get_if<lang::ExistsClause>(&clause.node)) look(exists->value);
  return found;
}

bool bounds(const lang::Assignment& statement, const std::string& iterator) {
  bool found = false;
  auto look = [&](const ExprPtr& root) {
    lang::for_each_expr(root, [&](const ExprPtr& expr) {
      const auto* name = std::get_if<lang::Name>(&expr->node);
      found = found || (name && name->id == iterator);
    });
  };
  look(statement.rhs);
  for (const auto& clause : statement.clauses)
    std::visit(overloaded{[&](const lang::RangeClause& x) { found = found || x.index == iterator; },
                          [&](const lang::LetClause& x) { look(x.value); },
                          [&](const lang::ExistsClause& x) { look(x.value); }},
               clause.node);
  return found;
}

bool is_given(const lang::Assignment& statement, const std::string& iterator) {
  return std::any_of(statement.clauses.begin(), statement.clauses.end(), [&](const lang::Clause& clause) {
    const auto* range = std::get_if<lang::RangeClause>(&clause.node);
    return range && range->index == iterator;
  });
}

bool has_open_conditions(const lang::Assignment& statement) {
  bool leaves_out = false, has_subscripts = false;
  auto look = [&](const ExprPtr& expr) {
    const auto* binary = std::get_if<lang::Binary>(&expr->node);
    const bool logical = binary && (binary->op == lang::BinaryOp::And || binary->op == lang::BinaryOp::Or);
    leaves_out = leaves_out || logical || std::holds_alternative<lang::Select>(expr->node);
    if (const auto* access = std::get_if<lang::Access>(&expr->node))
      for (const auto& subscript : access->subscripts)
        has_subscripts = has_subscripts || !std::holds_alternative<lang::Name>(subscript->node);
  };
  lang::for_each_expr(statement.rhs, look);
  for (const auto& clause : statement.clauses)
    if (const auto* exists = std::get_if<lang::ExistsClause>(&clause.node)) lang::for_each_expr(exists->value, look);
  auto iterators = lang::left_iterators(statement);
  iterators.insert(iterators.end(), statement.reduction_iterators.begin(), statement.reduction_iterators.end());
  return leaves_out && has_subscripts &&
         !std::all_of(iterators.begin(), iterators.end(), [&](const auto& id) { return is_given(statement, id); });
}

ExprPtr literal(std::int64_t value) {
  auto magnitude = lang::make_expr(lang::IntLiteral{static_cast<std::uint64_t>(value < 0 ? -value : value)});
  return value < 0 ? lang::make_expr(lang::Unary{lang::UnaryOp::Negate, magnitude}) : magnitude;
}

ExprPtr size_value(std::int64_t value) { return lang::make_expr(lang::Cast{DType::Int64, literal(value), false}); }

ExprPtr plain_sizes(const ExprPtr& bound) {
  if (const auto* cast = std::get_if<lang::Cast>(&bound->node)) return plain_sizes(cast->value);
  auto parts = lang::children(bound);
  for (auto& part : parts) part = plain_sizes(part);
  return lang::with_children(bound, parts);
}

ExprPtr with_moved_reads(const ExprPtr& expr, const std::map<std::string, std::vector<std::int64_t>>& mins) {
  auto parts = lang::children(expr);
  for (auto& part : parts) part = with_moved_reads(part, mins);
  const auto* access = std::get_if<lang::Access>(&expr->node);
  if (const auto found = access ? mins.find(access->tensor) : mins.end(); found != mins.end())
    for (std::size_t d = 0; d < parts.size(); ++d)
      if (auto min = found->second[d]; min != 0)
        parts[d] = lang::make_expr(
            lang::Binary{min > 0 ? lang::BinaryOp::Add : lang::BinaryOp::Sub, parts[d], literal(std::abs(min))});
  return parts.empty() ? expr : lang::with_children(expr, parts);
}

}  // namespace tc::graph
