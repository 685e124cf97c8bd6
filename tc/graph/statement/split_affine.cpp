#include "tc/graph/statement/split_affine.h"

#include <algorithm>

#include "tc/base/contains.h"
#include "tc/graph/statement/affine_statement.h"
#include "tc/lang/syntax/substitute.h"

namespace tc::graph {
namespace {

using lang::ExprPtr;

bool is_split_free(const lang::Assignment& statement) {
  if (statement.reduction || statement.bare) return false;
  bool conditional = false;
  lang::for_each_expr(statement.rhs, [&](const ExprPtr& part) {
    conditional = conditional || std::holds_alternative<lang::Select>(part->node);
  });
  return !conditional &&
         std::all_of(statement.clauses.begin(), statement.clauses.end(),
                     [](const lang::Clause& clause) { return std::holds_alternative<lang::RangeClause>(clause.node); });
}

/// Is \p expr more than a shift of an element of \p tensor by \p constants?
bool scales_by(const ExprPtr& expr, const std::string& tensor, const std::set<std::string>& constants) {
  const auto steps = affine_steps(expr, tensor);
  if (!steps || std::none_of(steps->begin(), steps->end(), [](const auto& step) { return step.scales(); }))
    return false;
  const auto read = tensors_in(expr);
  return std::all_of(read.begin(), read.end(),
                     [&](const std::string& name) { return name == tensor || constants.count(name); });
}

/// The outermost part of \p expr, but not all of it, that scales \p tensor by \p constants; null where there is none.
ExprPtr affine_part(const ExprPtr& expr, const std::string& tensor, const std::set<std::string>& constants) {
  for (const auto& child : lang::children(expr)) {
    if (scales_by(child, tensor, constants)) return child;
    if (auto found = affine_part(child, tensor, constants)) return found;
  }
  return nullptr;
}

}  // namespace

std::optional<std::pair<lang::Assignment, lang::Assignment>> split_affine(const lang::Assignment& statement,
                                                                          const std::set<std::string>& constants,
                                                                          const std::string& fresh) {
  if (!is_split_free(statement)) return std::nullopt;
  for (const auto& tensor : tensors_in(statement.rhs)) {
    if (constants.count(tensor) || scales_by(statement.rhs, tensor, constants)) continue;
    const auto part = affine_part(statement.rhs, tensor, constants);
    if (!part) continue;
    auto first = statement, second = statement;
    first.target = fresh;
    first.rhs = part;
    second.rhs = replaced(statement.rhs, [&](const ExprPtr& expr) -> ExprPtr {
      if (!lang::equal(expr, part)) return nullptr;
      return lang::make_expr(lang::Access{fresh, statement.subscripts, false}, expr->range, expr->type);
    });
    if (!contains(tensors_in(second.rhs), tensor)) return std::pair(std::move(first), std::move(second));
  }
  return std::nullopt;
}

}  // namespace tc::graph
