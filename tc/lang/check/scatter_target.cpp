#include "tc/lang/check/scatter_target.h"

#include <set>

#include "tc/base/str.h"
#include "tc/lang/syntax/builtins.h"
#include "tc/lang/syntax/names_in.h"
#include "tc/lang/syntax/scatter.h"

namespace tc::lang {
namespace {

/// Every identifier of \p assignment that may be an index or a let.
std::set<std::string> names_of(const Assignment& assignment) {
  std::set<std::string> names;
  const auto add = [&](const ExprPtr& root) { names.merge(names_in(root)); };
  for (const auto& subscript : assignment.subscripts) add(subscript);
  add(assignment.rhs);
  for (const auto& clause : assignment.clauses)
    std::visit(overloaded{[&](const RangeClause& x) { names.insert(x.index); },
                          [&](const LetClause& x) {
                            names.insert(x.name);
                            add(x.value);
                          },
                          [&](const ExistsClause& x) { add(x.value); }},
               clause.node);
  return names;
}

bool is_let(const Assignment& assignment, const std::string& id) {
  for (const auto& clause : assignment.clauses)
    if (const auto* let = std::get_if<LetClause>(&clause.node); let && let->name == id) return true;
  return false;
}

/// p, q, ..., z, p_1, q_1, ...
std::string free_index(std::set<std::string>& taken, const Scope& scope) {
  for (int round = 0;; ++round)
    for (char letter = 'p'; letter <= 'z'; ++letter) {
      const std::string name = round == 0 ? std::string(1, letter) : str(letter, "_", round);
      if (find_builtin(name) || !taken_as(scope, name).empty() || !taken.insert(name).second) continue;
      return name;
    }
}

}  // namespace

std::vector<ScatteredDimension> scattered_dimensions(const Assignment& assignment, const Scope& scope) {
  std::vector<ScatteredDimension> result;
  if (!assignment.reduction) return result;
  std::set<std::string> taken = names_of(assignment);
  for (std::size_t d = 0; d < assignment.subscripts.size(); ++d) {
    const ExprPtr& subscript = assignment.subscripts[d];
    const auto* name = std::get_if<Name>(&subscript->node);
    const bool is_value = name && (scope.is_size(name->id) || scope.tensors.count(name->id) > 0);
    if (name && !is_value && !is_let(assignment, name->id)) continue;
    result.push_back({d, subscript, free_index(taken, scope)});
  }
  return result;
}

Typed value_where_scattered(const Assignment& in, const Typed& value, const std::vector<ExprPtr>& subscripts,
                            const std::vector<ExprPtr>& indices, const StatementContext& context) {
  const ReductionOp op = *in.reduction;
  const auto& known = context.scope.tensors.at(in.target).type;
  const DType natural = natural_type(value), type = known.value_or(natural);
  ExprPtr written = in.rhs;
  const bool has_extreme = op == ReductionOp::Min || op == ReductionOp::Max;
  if (has_extreme && is_integer(type) && natural != type && is_integer(natural))
    written = make_expr(Cast{type, written, false}, written->range);
  const ExprPtr condition = scatter_condition(subscripts, indices);
  const ExprPtr choice = make_expr(Select{condition, written, identity_value(op, type)}, in.rhs->range);
  return type_expr(choice, context.scope, Mode::Value);
}

}  // namespace tc::lang
