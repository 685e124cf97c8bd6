#include "tc/cpu/guards/conjunctions.h"

#include <algorithm>

#include "tc/halide_bridge/lower/conditional.h"
#include "tc/halide_bridge/lower/linear_index.h"

namespace tc::cpu {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using halide_bridge::LinearIndex;

/// \p sign * (b - a) + \p constant where \p condition compares integers a and b as a Node does.
template <typename Node>
std::optional<LinearIndex> difference(const Expr& condition, std::int64_t sign, std::int64_t constant) {
  const auto* op = condition.as<Node>();
  if (!op || !op->a.type().is_int()) return std::nullopt;
  LinearIndex result;
  result.add(halide_bridge::linear_index(op->b), sign);
  result.add(halide_bridge::linear_index(op->a), -sign);
  result.constant += constant;
  return result;
}

/// The sum that is at least 0 exactly where \p comparison holds; nothing where it is none of integers by their order.
std::optional<LinearIndex> not_negative(const Expr& comparison) {
  if (auto sum = difference<ir::LE>(comparison, 1, 0)) return sum;
  if (auto sum = difference<ir::LT>(comparison, 1, -1)) return sum;
  if (auto sum = difference<ir::GE>(comparison, -1, 0)) return sum;
  return difference<ir::GT>(comparison, -1, -1);
}

/// \p a + \p factor * \p b where that is a number.
std::optional<std::int64_t> number(LinearIndex a, const LinearIndex& b, std::int64_t factor) {
  a.add(b, factor);
  return a.terms.empty() ? std::optional(a.constant) : std::nullopt;
}

}  // namespace

Conjunctions::Conjunctions(const std::vector<Expr>& conditions) : conditions_(conditions.size()) {
  for (std::size_t i = 0; i < conditions.size(); ++i)
    if (conditions[i].defined()) add(conditions[i], conditions_[i]);
  std::vector<std::optional<LinearIndex>> sums;
  for (const auto& comparison : comparisons_) sums.push_back(not_negative(comparison.condition));
  for (std::size_t c = 0; c < comparisons_.size(); ++c)
    for (std::size_t d = 0; d < comparisons_.size(); ++d) {
      auto& implied = comparisons_[c].of_others.emplace_back();
      if (!sums[c] || !sums[d]) continue;
      if (const auto more = number(*sums[d], *sums[c], -1)) {
        if (*more >= 0) implied.where_holds = Truth::Holds;
        if (*more <= 0) implied.where_fails = Truth::Fails;
      } else if (const auto together = number(*sums[d], *sums[c], 1)) {
        if (*together < 0) implied.where_holds = Truth::Fails;
        if (*together >= -1) implied.where_fails = Truth::Holds;
      }
    }
}

std::size_t Conjunctions::number_of(const Expr& comparison) {
  for (std::size_t c = 0; c < comparisons_.size(); ++c)
    if (ir::equal(comparisons_[c].condition, comparison)) return c;
  comparisons_.push_back({comparison, {}});
  return comparisons_.size() - 1;
}

void Conjunctions::add(const Expr& condition, std::vector<std::size_t>& to) {
  const auto* both = condition.as<ir::And>();
  const auto choice = halide_bridge::as_conditional(condition);
  if (both) {
    add(both->a, to);
    add(both->b, to);
  } else if (choice && ir::is_const_zero(choice->else_value)) {
    add(choice->condition, to);
    add(choice->then_value, to);
  } else if (!ir::is_const_one(condition)) {
    to.push_back(number_of(condition));
  }
}

Conjunctions::Truth Conjunctions::of_condition(std::size_t condition, const Decisions& decisions) const {
  bool open = false;
  for (const auto c : conditions_[condition]) {
    if (decisions[c] == Truth::Fails) return Truth::Fails;
    open = open || decisions[c] == Truth::Open;
  }
  return open ? Truth::Open : Truth::Holds;
}

std::optional<std::size_t> Conjunctions::next(const Decisions& decisions) const {
  std::vector<std::size_t> waiting(comparisons_.size());
  for (std::size_t i = 0; i < conditions_.size(); ++i)
    if (of_condition(i, decisions) == Truth::Open)
      for (const auto c : conditions_[i]) waiting[c] += decisions[c] == Truth::Open;
  const auto most = std::max_element(waiting.begin(), waiting.end());
  if (most == waiting.end() || *most == 0) return std::nullopt;
  return most - waiting.begin();
}

Conjunctions::Decisions Conjunctions::with(Decisions decisions, std::size_t c, bool holds) const {
  for (std::size_t d = 0; d < comparisons_.size(); ++d) {
    const auto& implied = comparisons_[c].of_others[d];
    const auto truth = holds ? implied.where_holds : implied.where_fails;
    if (truth != Truth::Open && decisions[d] == Truth::Open) decisions[d] = truth;
  }
  decisions[c] = holds ? Truth::Holds : Truth::Fails;
  return decisions;
}

std::size_t Conjunctions::cases(const Decisions& decisions, std::size_t most) const {
  const auto c = next(decisions);
  if (!c) return 1;
  if (most <= 1) return most + 1;
  const auto where_holds = cases(with(decisions, *c, true), most - 1);
  if (where_holds >= most) return most + 1;
  return where_holds + cases(with(decisions, *c, false), most - where_holds);
}

}  // namespace tc::cpu
