#include "tc/lang/syntax/substitute.h"

#include <algorithm>
#include <set>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/lang/syntax/builtins.h"
#include "tc/lang/syntax/names_in.h"
#include "tc/lang/syntax/operators.h"

namespace tc::lang {
namespace {

std::string new_name(const std::string& tensor, const Substitution& substitution) {
  auto found = substitution.tensors.find(tensor);
  return found == substitution.tensors.end() ? tensor : found->second;
}

std::vector<ExprPtr> substitute_all(const std::vector<ExprPtr>& exprs, const Substitution& substitution) {
  std::vector<ExprPtr> result;
  for (const auto& expr : exprs) result.push_back(substitute(expr, substitution));
  return result;
}

/// The names of lets that \p statement reads.
std::set<std::string> used_names(const Assignment& statement) {
  std::set<std::string> used;
  auto collect = [&](const ExprPtr& root) { used.merge(names_in(root)); };
  collect(statement.rhs);
  for (const auto& clause : statement.clauses)
    std::visit(
        overloaded{[&](const RangeClause& x) {
                     collect(x.low);
                     collect(x.high);
                   },
                   [&](const LetClause& x) { collect(x.value); }, [&](const ExistsClause& x) { collect(x.value); }},
        clause.node);
  return used;
}

/// The name an iterator \p id gets.
std::string iterator_name(const std::string& id, const Substitution& substitution) {
  auto found = substitution.values.find(id);
  if (found == substitution.values.end()) return id;
  auto* name = std::get_if<Name>(&found->second->node);
  if (!name) throw InternalError(str("iterator '", id, "' cannot become a value"));
  return name->id;
}

}  // namespace

namespace {

/// What decides the type of a checked value: what it reads or a written cast. A float of literals and integers alone adapts.
enum class Origin : std::uint8_t { Float, Integer, IntLiteral, AdaptingFloat };

Origin origin_of(const ExprPtr& expr);

/// Of what is made of \p parts from number \p first on.
Origin joint_origin(const std::vector<ExprPtr>& parts, std::size_t first = 0) {
  Origin result = Origin::IntLiteral;
  for (std::size_t i = first; i < parts.size(); ++i) {
    const Origin origin = origin_of(parts[i]);
    if (origin == Origin::Float) return origin;
    if (origin == Origin::AdaptingFloat || result == Origin::IntLiteral) result = origin;
  }
  return result;
}

Origin origin_of(const ExprPtr& expr) {
  const auto by_type = [&] { return expr->type && is_float(*expr->type) ? Origin::Float : Origin::Integer; };
  return std::visit(overloaded{
                        [](const IntLiteral&) { return Origin::IntLiteral; },
                        [](const FloatLiteral&) { return Origin::AdaptingFloat; },
                        [&](const Unary& x) { return x.op == UnaryOp::Not ? by_type() : origin_of(x.value); },
                        [&](const Binary& x) { return gives_truth(x.op) ? by_type() : joint_origin(children(expr)); },
                        [&](const Select&) { return joint_origin(children(expr), 1); },
                        [&](const Call& x) {
                          const BuiltinKind kind = find_builtin(x.function)->kind;
                          if (kind == BuiltinKind::Predicate) return by_type();
                          const Origin origin = joint_origin(x.arguments, kind == BuiltinKind::Choice ? 1 : 0);
                          return kind == BuiltinKind::Float && origin != Origin::Float ? Origin::AdaptingFloat : origin;
                        },
                        [&](const Cast& x) { return x.implicit ? origin_of(x.value) : by_type(); },
                        [&](const auto&) { return by_type(); },
                    },
                    expr->node);
}

}  // namespace

bool has_literal_type(const ExprPtr& expr) {
  const Origin origin = origin_of(expr);
  return origin == Origin::IntLiteral || origin == Origin::AdaptingFloat;
}

ExprPtr substitute(const ExprPtr& expr, const Substitution& substitution) {
  auto result =
      std::visit(overloaded{
                     [&](const Name& x) {
                       auto found = substitution.values.find(x.id);
                       return found == substitution.values.end() ? make_expr(Name{x.id}, expr->range) : found->second;
                     },
                     [&](const Access& x) {
                       std::string tensor = new_name(x.tensor, substitution);
                       if (x.bare) return make_expr(Name{tensor}, expr->range);
                       return make_expr(Access{tensor, substitute_all(x.subscripts, substitution), false}, expr->range);
                     },
                     [&](const SizeOf& x) {
                       if (substitution.size_of)
                         if (auto value = substitution.size_of(x.tensor, x.dimension)) return value;
                       return make_expr(SizeOf{new_name(x.tensor, substitution), x.dimension}, expr->range);
                     },
                     [&](const Cast& x) {
                       auto value = substitute(x.value, substitution);
                       return x.implicit ? value : make_expr(Cast{x.type, value, false}, expr->range);
                     },
                     [&](const auto& x) {
                       auto copy = make_expr(x, expr->range);
                       return with_children(copy, substitute_all(children(expr), substitution));
                     },
                 },
                 expr->node);
  return result;
}

namespace {

/// Does \p value, checked, compute in an integer type of its own in which it would not be computed as a subscript?
bool computes_below_64_bits(const ExprPtr& value) {
  if (!value->type || !is_integer(*value->type) || *value->type == DType::Int64) return false;
  const bool computes = std::holds_alternative<Binary>(value->node) || std::holds_alternative<Unary>(value->node) ||
                        std::holds_alternative<Call>(value->node) || std::holds_alternative<Select>(value->node);
  return computes && !has_literal_type(value);
}

/// The clauses of \p statement; the values of its lets go to \p lets, which is \p inner unless it is null.
std::vector<Clause> substitute_clauses(const Assignment& statement, const Substitution& inner, Substitution* lets) {
  const std::set<std::string> used = lets ? used_names(statement) : std::set<std::string>();
  std::vector<Clause> result;
  for (const auto& clause : statement.clauses) {
    if (auto* range = std::get_if<RangeClause>(&clause.node)) {
      result.push_back({RangeClause{iterator_name(range->index, inner), substitute(range->low, inner),
                                    substitute(range->high, inner)},
                        clause.range});
    } else if (auto* exists = std::get_if<ExistsClause>(&clause.node)) {
      result.push_back({ExistsClause{substitute(exists->value, inner)}, clause.range});
    } else {
      const auto& let = std::get<LetClause>(clause.node);
      auto value = substitute(let.value, inner);
      if (!used.count(let.name)) result.push_back({ExistsClause{value}, clause.range});
      lets->values[let.name] =
          computes_below_64_bits(let.value) ? make_expr(Cast{*let.value->type, value, false}, value->range) : value;
    }
  }
  return result;
}

}  // namespace

Assignment substitute(const Assignment& statement, const Substitution& substitution) {
  const bool has_lets = std::any_of(statement.clauses.begin(), statement.clauses.end(), [](const Clause& clause) {
    return std::holds_alternative<LetClause>(clause.node);
  });
  Substitution lets;
  if (has_lets) lets = substitution;
  const Substitution& inner = has_lets ? lets : substitution;
  Assignment result = statement;
  result.target = new_name(statement.target, substitution);
  result.reduction_iterators.clear();
  result.clauses = substitute_clauses(statement, inner, has_lets ? &lets : nullptr);
  result.subscripts = substitute_all(statement.subscripts, inner);
  result.rhs = substitute(statement.rhs, inner);
  return result;
}

}  // namespace tc::lang
