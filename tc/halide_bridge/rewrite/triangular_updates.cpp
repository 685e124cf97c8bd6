#include "tc/halide_bridge/rewrite/triangular_updates.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tc/halide_bridge/lower/conditional.h"
#include "tc/halide_bridge/lower/iterator_order.h"
#include "tc/halide_bridge/rewrite/guarded_update.h"

namespace tc::halide_bridge {
namespace {

/// Values of each iterator at least: a shorter loop is a window, whose conditions leave its loops (unswitch_guards), or a triangle of
/// less than two vectors.
constexpr std::int64_t least_extent = 16;

/// Is \p iterator in the last subscript of a read in the value of \p statement?
bool is_in_last_subscript(const ProgramStatement& statement, const std::string& iterator) {
  const auto reads = element_reads(statement.value);
  return std::any_of(reads.begin(), reads.end(), [&](const auto* read) {
    return !read->args.empty() && Halide::Internal::expr_uses_var(read->args.back(), iterator);
  });
}

/// Does \p order bound an inner loop of \p statement by an outer one along which lanes seldom run?
bool bounds_an_inner_loop(const ProgramStatement& statement, const IteratorOrder& order) {
  const auto& iterators = statement.iterators;
  const auto inner = std::find(iterators.begin(), iterators.end(), order.smaller),
             outer = std::find(iterators.begin(), iterators.end(), order.larger);
  const bool is_kept = std::any_of(statement.subscripts.begin(), statement.subscripts.end(),
                                   [&](const auto& subscript) { return is_iterator(subscript, order.larger); });
  const auto is_long = [&](auto iterator) {
    return statement.domain[static_cast<std::size_t>(iterator - iterators.begin())].extent >= least_extent;
  };
  if (inner == iterators.end() || outer >= inner || !is_long(inner) || !is_long(outer)) return false;
  return is_kept && !is_in_last_subscript(statement, order.larger);
}

ProgramStatement triangular(ProgramStatement statement) {
  const auto parts = guarded_update(statement);
  if (!parts || !statement.loops.empty()) return statement;
  std::vector<Halide::Expr> others, moved;
  for (const auto& condition : parts->conditions) {
    const auto order = iterator_order(condition);
    const bool moves = order && bounds_an_inner_loop(statement, *order);
    (moves ? moved : others).push_back(condition);
  }
  if (moved.empty()) return statement;
  statement.conditions.insert(statement.conditions.end(), moved.begin(), moved.end());
  statement.value = others.empty() ? parts->value : if_then_else(all_of(others), parts->value, parts->identity);
  return statement;
}

}  // namespace

Program triangular_updates(const Program& program) {
  auto result = program;
  for (auto& launch : result.launches)
    for (auto& statement : launch.statements) statement = triangular(std::move(statement));
  return result;
}

}  // namespace tc::halide_bridge
