#include "tc/halide_bridge/rewrite/residues.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "tc/base/ceil_div.h"
#include "tc/halide_bridge/lower/linear_index.h"
#include "tc/halide_bridge/rewrite/guarded_update.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

std::optional<std::int64_t> constant_of(const Expr& expr) {
  const auto* literal = expr.as<ir::IntImm>();
  return literal ? std::optional(literal->value) : std::nullopt;
}

std::int64_t modulo(std::int64_t value, std::int64_t stride) { return value - stride * tc::floor_div(value, stride); }

bool is_in_a_subscript(const ProgramStatement& statement, const std::string& iterator) {
  return std::any_of(statement.subscripts.begin(), statement.subscripts.end(),
                     [&](const Expr& subscript) { return ir::expr_uses_var(subscript, iterator); });
}

/// A sum that is 0 modulo a number.
struct Multiple {
  std::map<std::string, std::int64_t> factors;  ///< of iterators
  std::int64_t constant = 0, stride = 0;
};

/// What \p condition says to be a multiple of what.
std::optional<Multiple> multiple_of(const Expr& condition) {
  const auto* equality = condition.as<ir::EQ>();
  if (!equality) return std::nullopt;
  const bool swapped = constant_of(equality->a).has_value();
  const auto* remainder = (swapped ? equality->b : equality->a).as<ir::Mod>();
  const auto value = constant_of(swapped ? equality->a : equality->b);
  if (!remainder || !value) return std::nullopt;
  const auto stride = constant_of(remainder->b);
  const auto sum = linear_index(remainder->a);
  if (!stride || *stride < 2 || *stride > most_residues || *value < 0 || *value >= *stride) return std::nullopt;
  Multiple result{{}, sum.constant - *value, *stride};
  for (const auto& term : sum.terms) {
    const auto* iterator = term.part.as<ir::Variable>();
    if (!iterator) return std::nullopt;
    result.factors[iterator->name] = term.factor;
  }
  return result;
}

/// The residue that \p condition, one of \p statement, tells.
std::optional<Residue> residue_of(const Expr& condition, const ProgramStatement& statement,
                                  const ProgramTensor& target) {
  const auto found = multiple_of(condition);
  if (!found) return std::nullopt;
  const auto& sum = *found;
  const auto stride = sum.stride;
  Residue result{{}, {}, 0, stride, {}};
  for (const auto& [name, factor] : sum.factors) {
    if (factor % stride == 0) continue;
    auto& place = is_in_a_subscript(statement, name) ? result.left : result.reduction;
    if (!place.empty()) return std::nullopt;
    place = name;
  }
  if (result.left.empty() || result.reduction.empty()) return std::nullopt;
  const auto dimension = written_dimension(statement, result.left, target);
  const std::int64_t step = sum.factors.at(result.reduction);
  if (!dimension || std::gcd(step, stride) != 1 || range_of(statement, result.left).extent < stride)
    return std::nullopt;
  result.dimension = *dimension;
  std::int64_t rest = sum.constant + step * range_of(statement, result.reduction).min;
  rest += sum.factors.at(result.left) * range_of(statement, result.left).min;
  for (std::int64_t r = 0; r < stride; ++r)
    for (std::int64_t k = 0; k < stride; ++k)
      if (modulo(rest + sum.factors.at(result.left) * r + step * k, stride) == 0) result.matching.push_back(k);
  return result;
}

}  // namespace

std::optional<std::size_t> written_dimension(const ProgramStatement& statement, const std::string& iterator,
                                             const ProgramTensor& target) {
  for (std::size_t d = 0; d < statement.subscripts.size(); ++d)
    if (is_iterator(statement.subscripts[d], iterator) && range_of(statement, iterator) == target.box[d]) return d;
  return std::nullopt;
}

std::vector<Residue> residues_of(const ProgramStatement& statement, const ProgramTensor& target,
                                 const std::set<std::string>& kept) {
  std::vector<Residue> result;
  const auto update = guarded_update(statement);
  if (!update) return result;
  std::set<std::string> taken = kept;
  for (const auto& condition : update->conditions) {
    auto residue = residue_of(condition, statement, target);
    if (!residue || taken.count(residue->left) || taken.count(residue->reduction)) continue;
    taken.insert({residue->left, residue->reduction});
    result.push_back(*std::move(residue));
  }
  return result;
}

}  // namespace tc::halide_bridge
