#include "tc/halide_bridge/rewrite/solve_matches.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <vector>

#include "tc/base/contains.h"
#include "tc/halide_bridge/lower/conditional.h"
#include "tc/halide_bridge/lower/linear_index.h"
#include "tc/halide_bridge/rewrite/guarded_update.h"
#include "tc/halide_bridge/rewrite/residues.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

/// The sum of iterators of \p statement that \p condition says is 0.
std::optional<LinearIndex> equation(const Expr& condition, const ProgramStatement& statement) {
  const auto* equality = condition.as<ir::EQ>();
  if (!equality || equality->a.type() != Halide::Int(64)) return std::nullopt;
  auto sum = linear_index(equality->a);
  sum.add(linear_index(equality->b), -1);
  for (const auto& term : sum.terms) {
    const auto* iterator = term.part.as<ir::Variable>();
    if (!iterator || !contains(statement.iterators, iterator->name)) return std::nullopt;
  }
  return sum;
}

bool is_reduced(const ProgramStatement& statement, const std::string& iterator) {
  return std::none_of(statement.subscripts.begin(), statement.subscripts.end(),
                      [&](const Expr& subscript) { return ir::expr_uses_var(subscript, iterator); });
}

/// Is the remainder of an iterator of the result in \p sum that of one that is reduced over beside \p chosen?
bool tells_residues(const LinearIndex& sum, const LinearIndex::Term& chosen, const ProgramStatement& statement) {
  const std::int64_t stride = std::abs(chosen.factor);
  const auto has = [&](bool reduced) {
    return std::any_of(sum.terms.begin(), sum.terms.end(), [&](const auto& term) {
      return &term != &chosen && is_reduced(statement, term.part.template as<ir::Variable>()->name) == reduced &&
             std::gcd(term.factor, stride) == 1;
    });
  };
  return stride <= most_residues && has(true) && has(false);
}

std::size_t number_of(const ProgramStatement& statement, const LinearIndex::Term& term) {
  const auto& all = statement.iterators;
  return static_cast<std::size_t>(std::find(all.begin(), all.end(), term.part.as<ir::Variable>()->name) - all.begin());
}

/// The term of \p sum, an equation of \p statement, to solve it for; null if there is none.
const LinearIndex::Term* unknown(const LinearIndex& sum, const ProgramStatement& statement,
                                 const std::set<std::string>& kept) {
  const LinearIndex::Term* result = nullptr;
  const auto extent = [&](const auto& term) { return statement.domain[number_of(statement, term)].extent; };
  for (const auto& term : sum.terms) {
    const auto& name = term.part.as<ir::Variable>()->name;
    if (kept.count(name) || !is_reduced(statement, name)) continue;
    if (!conditions_of({name}, statement.conditions).empty()) continue;
    if (std::abs(term.factor) != 1 && !tells_residues(sum, term, statement)) continue;
    if (!result || extent(term) > extent(*result)) result = &term;
  }
  return result;
}

/// \p statement, of value \p update, without the iterator that is the term \p chosen of \p sum, the equation of condition
/// number \p match.
ProgramStatement solved(const ProgramStatement& statement, const GuardedUpdate& update, std::size_t match,
                        const LinearIndex& sum, const LinearIndex::Term& chosen) {
  const std::size_t i = number_of(statement, chosen);
  const std::string name = statement.iterators[i];
  LinearIndex others = sum;
  others.add(chosen.part, -chosen.factor);
  LinearIndex negative;
  negative.add(others, chosen.factor < 0 ? 1 : -1);
  const Expr numerator = to_expr(negative);
  const std::int64_t divisor = std::abs(chosen.factor);
  const Expr value = divisor == 1 ? numerator : ir::Div::make(numerator, index_value(divisor));
  std::vector<Expr> conditions;
  if (divisor != 1) conditions.push_back(ir::EQ::make(ir::Mod::make(numerator, index_value(divisor)), index_value(0)));
  conditions.push_back(ir::LE::make(index_value(statement.domain[i].min), value));
  conditions.push_back(ir::LT::make(value, index_value(statement.domain[i].min + statement.domain[i].extent)));
  for (std::size_t k = 0; k < update.conditions.size(); ++k)
    if (k != match) conditions.push_back(replaced(update.conditions[k], {{name, value}}));
  ProgramStatement result = statement;
  result.iterators.erase(result.iterators.begin() + static_cast<std::ptrdiff_t>(i));
  result.domain.erase(result.domain.begin() + static_cast<std::ptrdiff_t>(i));
  result.value = if_then_else(all_of(conditions), replaced(update.value, {{name, value}}), update.identity);
  return result;
}

/// \p statement with one equation solved; nothing if there is none.
std::optional<ProgramStatement> with_one_solved(const ProgramStatement& statement, const std::set<std::string>& kept) {
  const auto update = guarded_update(statement);
  if (!update || !statement.loops.empty()) return std::nullopt;
  for (std::size_t match = 0; match < update->conditions.size(); ++match) {
    const auto sum = equation(update->conditions[match], statement);
    const auto* chosen = sum ? unknown(*sum, statement, kept) : nullptr;
    if (chosen) return solved(statement, *update, match, *sum, *chosen);
  }
  return std::nullopt;
}

}  // namespace

Program solve_matches(const Program& program, const std::set<std::string>& kept) {
  Program result = program;
  for (auto& launch : result.launches)
    for (auto& statement : launch.statements)
      while (auto fewer = with_one_solved(statement, kept)) statement = *std::move(fewer);
  return result;
}

}  // namespace tc::halide_bridge
