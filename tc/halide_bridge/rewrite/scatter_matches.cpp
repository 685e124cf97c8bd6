#include "tc/halide_bridge/rewrite/scatter_matches.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "tc/halide_bridge/lower/conditional.h"
#include "tc/halide_bridge/rewrite/guarded_update.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

/// Values of an iterator from which on a loop over it takes longer than an update of memory for each term.
constexpr std::int64_t least_matches = 16;

bool is_written_by(const ProgramStatement& statement, const std::string& iterator) {
  return std::any_of(statement.subscripts.begin(), statement.subscripts.end(),
                     [&](const Expr& subscript) { return is_iterator(subscript, iterator); });
}

/// Does \p expr mention an iterator that \p statement reduces over?
bool is_reduced(const Expr& expr, const ProgramStatement& statement) {
  return std::any_of(statement.iterators.begin(), statement.iterators.end(), [&](const std::string& iterator) {
    return !is_written_by(statement, iterator) && ir::expr_uses_var(expr, iterator);
  });
}

/// May condition number \p match of \p update be evaluated before the iterator \p name has a value?
bool is_independent(const GuardedUpdate& update, std::size_t match, const std::string& name) {
  return std::none_of(update.conditions.begin(), update.conditions.begin() + static_cast<std::ptrdiff_t>(match),
                      [&](const Expr& condition) { return ir::expr_uses_var(condition, name); });
}

/// The index that \p condition, one of \p statement, compares with \p iterator; undefined if it does not.
Expr matched_index(const Expr& condition, const std::string& iterator, const ProgramStatement& statement) {
  const auto* equality = condition.as<ir::EQ>();
  if (!equality) return {};
  const bool left = is_iterator(equality->a, iterator);
  if (!left && !is_iterator(equality->b, iterator)) return {};
  const Expr index = left ? equality->b : equality->a;
  const bool moves = reads_tensor(index) || is_reduced(index, statement);
  return moves && !ir::expr_uses_var(index, iterator) ? index : Expr();
}

/// \p statement, of value \p update, without its iterator number \p i, which condition number \p match says is \p index.
ProgramStatement scattered(const ProgramStatement& statement, std::size_t i, const GuardedUpdate& update,
                           std::size_t match, const Expr& index) {
  const std::string name = statement.iterators[i];
  std::vector<Expr> conditions = update.conditions;
  const Expr first = ir::make_const(Halide::Int(64), statement.domain[i].min);
  const Expr end = ir::make_const(Halide::Int(64), statement.domain[i].min + statement.domain[i].extent);
  conditions[match] = ir::And::make(ir::LE::make(first, index), ir::LT::make(index, end));
  for (auto& condition : conditions) condition = replaced(condition, {{name, index}});
  const std::vector<Expr> early(conditions.begin(), conditions.begin() + static_cast<std::ptrdiff_t>(match) + 1);
  ProgramStatement result = statement;
  result.iterators.erase(result.iterators.begin() + static_cast<std::ptrdiff_t>(i));
  result.domain.erase(result.domain.begin() + static_cast<std::ptrdiff_t>(i));
  const Expr row = if_then_else(all_of(early), index, first);
  for (auto& subscript : result.subscripts) subscript = replaced(subscript, {{name, row}});
  result.value = if_then_else(all_of(conditions), replaced(update.value, {{name, index}}), update.identity);
  return result;
}

/// \p statement without one of the iterators that it only compares with an index; nothing if there is none.
std::optional<ProgramStatement> without_a_match(const ProgramStatement& statement) {
  const auto update = guarded_update(statement);
  if (!update || !statement.loops.empty()) return std::nullopt;
  for (std::size_t i = 0; i < statement.iterators.size(); ++i) {
    if (statement.domain[i].extent < least_matches) continue;
    if (!conditions_of({statement.iterators[i]}, statement.conditions).empty()) continue;
    for (std::size_t match = 0;
         match < update->conditions.size() && is_independent(*update, match, statement.iterators[i]); ++match)
      if (const Expr index = matched_index(update->conditions[match], statement.iterators[i], statement);
          index.defined())
        return scattered(statement, i, *update, match, index);
  }
  return std::nullopt;
}

}  // namespace

Program scatter_matches(const Program& program) {
  Program result = program;
  for (auto& launch : result.launches)
    for (auto& statement : launch.statements)
      while (auto fewer = without_a_match(statement)) statement = *std::move(fewer);
  return result;
}

}  // namespace tc::halide_bridge
