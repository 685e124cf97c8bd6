#include "tc/halide_bridge/rewrite/ragged_updates.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "tc/halide_bridge/lower/conditional.h"
#include "tc/halide_bridge/lower/variable_names.h"
#include "tc/halide_bridge/rewrite/guarded_update.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

/// Rows at least: with fewer, lanes along the iterator take no longer than a loop of each row.
constexpr std::int64_t least_rows = 16;

/// The side of an iterator that a condition bounds: bound <= iterator, or iterator < bound.
struct DataBound {
  std::string iterator;
  Expr bound;
  bool is_begin = false;
};

/// \p low <= \p high, or \p low < \p high if \p strictly, as a bound of the one that is an iterator; the other reads a tensor.
std::optional<DataBound> bound_of(const Expr& low, const Expr& high, bool strictly) {
  if (low.type() != Halide::Int(64)) return std::nullopt;
  const auto *first = low.as<ir::Variable>(), *second = high.as<ir::Variable>();
  if (second && reads_tensor(low) && !ir::expr_uses_var(low, second->name) && !strictly)
    return DataBound{second->name, low, true};
  if (first && reads_tensor(high) && !ir::expr_uses_var(high, first->name) && strictly)
    return DataBound{first->name, high, false};
  return std::nullopt;
}

std::optional<DataBound> data_bound(const Expr& condition) {
  if (const auto* op = condition.as<ir::LE>()) return bound_of(op->a, op->b, false);
  if (const auto* op = condition.as<ir::LT>()) return bound_of(op->a, op->b, true);
  if (const auto* op = condition.as<ir::GE>()) return bound_of(op->b, op->a, false);
  if (const auto* op = condition.as<ir::GT>()) return bound_of(op->b, op->a, true);
  return std::nullopt;
}

/// The loop that the first two of \p conditions bound.
std::optional<RaggedLoop> loop_of(const std::vector<Expr>& conditions) {
  if (conditions.size() < 2) return std::nullopt;
  auto first = data_bound(conditions[0]), second = data_bound(conditions[1]);
  if (!first || !second || first->iterator != second->iterator || first->is_begin == second->is_begin)
    return std::nullopt;
  if (second->is_begin) std::swap(first, second);
  return RaggedLoop{first->iterator, {}, first->bound, second->bound};
}

/// How many combinations of values the iterators have that the bounds of \p loop depend on, each counted up to `least_rows`.
std::int64_t rows(const ProgramStatement& statement, const RaggedLoop& loop) {
  const auto used = variable_names({loop.begin, loop.end});
  std::int64_t result = 1;
  for (std::size_t i = 0; i < statement.iterators.size(); ++i)
    if (used.count(statement.iterators[i]))
      result *= std::clamp<std::int64_t>(statement.domain[i].extent, 0, least_rows);
  return result;
}

/// Are all values of \p range, and its end, of 32 bits, as Halide's loops count?
bool is_narrow(const lang::IntegerRange& range) {
  using Narrow = std::numeric_limits<std::int32_t>;
  return range.min >= Narrow::min() && range.min <= Narrow::max() - range.extent;
}

bool moves_target(const ProgramStatement& statement, const std::string& iterator) {
  return variable_names(statement.subscripts).count(iterator) > 0;
}

ProgramStatement ragged(ProgramStatement statement, const RaggedOptions& options) {
  const auto parts = guarded_update(statement);
  auto loop = parts && statement.loops.empty() ? loop_of(parts->conditions) : std::nullopt;
  if (!loop || options.named.count(loop->iterator) || rows(statement, *loop) < least_rows) return statement;
  const auto found = std::find(statement.iterators.begin(), statement.iterators.end(), loop->iterator);
  if (found == statement.iterators.end() || !conditions_of({loop->iterator}, statement.conditions).empty())
    return statement;
  loop->range = statement.domain[static_cast<std::size_t>(found - statement.iterators.begin())];
  if (!is_narrow(loop->range) || (!options.scatters && moves_target(statement, loop->iterator))) return statement;
  statement.domain.erase(statement.domain.begin() + (found - statement.iterators.begin()));
  statement.iterators.erase(found);
  const std::vector<Expr> others(parts->conditions.begin() + 2, parts->conditions.end());
  statement.value = others.empty() ? parts->value : if_then_else(all_of(others), parts->value, parts->identity);
  loop->lanes = std::max(1, options.vector_bytes / std::max(statement.value.type().bytes(), 4));
  statement.ragged = std::move(loop);
  return statement;
}

}  // namespace

Program ragged_updates(const Program& program, const RaggedOptions& options) {
  auto result = program;
  for (auto& launch : result.launches)
    for (auto& statement : launch.statements) statement = ragged(std::move(statement), options);
  return result;
}

}  // namespace tc::halide_bridge
