#include "tc/halide_bridge/rewrite/winners.h"

#include <algorithm>

#include "tc/base/contains.h"
#include "tc/halide_bridge/rewrite/guarded_update.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

/// The iterator that \p condition compares with what is no iterator of \p left, and that; nothing for another condition.
std::optional<std::pair<std::string, Expr>> match_in(const Expr& condition, const std::vector<std::string>& left) {
  const auto* equality = condition.as<ir::EQ>();
  if (!equality) return std::nullopt;
  for (const auto& [iterator, index] : {std::pair(equality->a, equality->b), std::pair(equality->b, equality->a)}) {
    const auto* name = iterator.as<ir::Variable>();
    if (name && contains(left, name->name)) return std::pair(name->name, index);
  }
  return std::nullopt;
}

/// Notes what \p condition of an update compares, an element's iterator or an earlier winner.
bool add_condition(const Expr& condition, const std::vector<std::string>& left, Winner& winner) {
  if (const auto match = match_in(condition, left)) return winner.matches.insert(*match).second;
  const auto* equality = condition.as<ir::EQ>();
  const auto* read = equality ? equality->a.as<ir::Call>() : nullptr;
  const auto* iterator = equality ? equality->b.as<ir::Variable>() : nullptr;
  if (!read || read->call_type != ir::Call::Halide || !iterator) return false;
  winner.earlier.emplace_back(read, iterator->name);
  return true;
}

}  // namespace

std::set<std::string> tensors_read(const ProgramStatement& statement) {
  std::vector<Expr> parts = statement.subscripts;
  parts.push_back(statement.value);
  if (statement.ragged) parts.insert(parts.end(), {statement.ragged->begin, statement.ragged->end});
  std::set<std::string> result;
  for (const auto& part : parts)
    for (const auto* read : element_reads(part)) result.insert(read->name);
  return result;
}

bool are_equal(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Expr& x, const Expr& y) { return ir::equal(x, y); });
}

const ir::Call* won_in(const Expr& condition) {
  const auto* unequal = condition.as<ir::NE>();
  const auto* no = condition.as<ir::Not>();
  const auto* equal = no ? no->a.as<ir::EQ>() : nullptr;
  if (!unequal && !equal) return nullptr;
  const Expr a = unequal ? unequal->a : equal->a, b = unequal ? unequal->b : equal->b;
  const auto* read = a.as<ir::Call>();
  const bool is_lowest = a.type() == Halide::Int(64) && ir::equal(ir::simplify(b), a.type().min());
  return read && read->call_type == ir::Call::Halide && is_lowest ? read : nullptr;
}

std::optional<Winner> winner_of(const ProgramStatement& update) {
  Winner result{update.target, {}, &update, {}, {}, {}};
  const auto parts = guarded_update(update);
  if (!parts || update.op != ReductionOp::Max || update.ragged || !update.loops.empty()) return std::nullopt;
  std::vector<std::string> left;
  for (const auto& subscript : update.subscripts) {
    const auto* variable = subscript.as<ir::Variable>();
    if (!variable || contains(left, variable->name)) return std::nullopt;
    left.push_back(variable->name);
  }
  for (const auto& iterator : update.iterators)
    if (!contains(left, iterator)) result.iterators.push_back(iterator);
  const auto* value = parts->value.as<ir::Variable>();
  if (value ? !contains(result.iterators, value->name) : !ir::is_const_zero(parts->value)) return std::nullopt;
  if (value) result.iterator = value->name;
  for (const auto& condition : parts->conditions)
    if (!add_condition(condition, left, result)) return std::nullopt;
  return result;
}

}  // namespace tc::halide_bridge
