#include "tc/derive/proof/comparison.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "tc/derive/form/fill.h"
#include "tc/derive/form/isl_expressions.h"

namespace tc::derive {

using lang::ExprPtr;

namespace {

const std::string reciprocal = "1/";

const lang::Call* call_of(const ExprPtr& expr) { return std::get_if<lang::Call>(&expr->node); }

/// The exponential that \p expr is, or that it rounds.
ExprPtr unrounded(const ExprPtr& expr) {
  const auto rounding = rounded_value(expr);
  return rounding ? rounding->value : expr;
}

/// The function of an exponential, which may be rounded to 16 bits; "" for other expressions.
std::string exponential(const ExprPtr& expr) {
  const auto inner = unrounded(expr);
  const auto* call = call_of(inner);
  if (!call || call->arguments.size() != 1) return "";
  return call->function == "exp" || call->function == "exp2" || call->function == "exp10" ? call->function : "";
}

/// The types that \p exponentials are rounded to.
std::vector<DType> roundings(const std::vector<ExprPtr>& exponentials) {
  std::vector<DType> result;
  for (const auto& each : exponentials)
    if (const auto rounding = rounded_value(each)) result.push_back(rounding->type);
  return result;
}

bool is_exponential(const ExprPtr& factor) { return !exponential(factor).empty(); }

/// Are the nodes the same, whatever their operands are?
bool same_node(const ExprPtr& a, const ExprPtr& b, const std::vector<ExprPtr>& left,
               const std::vector<ExprPtr>& right) {
  if (left.empty()) return lang::equal(a, b);
  const std::vector<ExprPtr> blank(left.size(), number(0));
  return lang::equal(lang::with_children(a, blank), lang::with_children(b, blank)) && left.size() == right.size();
}

/// A sum of terms of both sides, in which equal products are one.
class LinearSum {
 public:
  LinearSum(const Side& a, const Side& b) : aa_(a, a), ab_(a, b), bb_(b, b) {}

  /// Adds \p factor times \p expr, of the second side if \p second.
  void add(const ExprPtr& expr, double factor, bool second) {
    for (auto& term : linear_terms(expr)) {
      const auto found = std::find_if(terms_.begin(), terms_.end(),
                                      [&](const Term& each) { return same_factors(each, term.factors, second); });
      if (found != terms_.end())
        found->coefficient += factor * term.coefficient;
      else
        terms_.push_back({factor * term.coefficient, std::move(term.factors), second});
    }
  }

  bool is_zero() const {
    return std::all_of(terms_.begin(), terms_.end(), [](const Term& each) { return each.coefficient == 0; });
  }

 private:
  struct Term {
    double coefficient;
    std::vector<ExprPtr> factors;
    bool second;
  };

  bool same_factors(const Term& term, std::vector<ExprPtr> others, bool second) const {
    if (term.factors.size() != others.size()) return false;
    for (const auto& factor : term.factors) {
      const auto found = std::find_if(others.begin(), others.end(), [&](const ExprPtr& other) {
        if (term.second == second) return (second ? bb_ : aa_).same(factor, other);
        return second ? ab_.same(factor, other) : ab_.same(other, factor);
      });
      if (found == others.end()) return false;
      others.erase(found);
    }
    return true;
  }

  Comparison aa_, ab_, bb_;
  std::vector<Term> terms_;
};

}  // namespace

ExprPtr with_reciprocals(const ExprPtr& body) {
  auto parts = lang::children(body);
  if (parts.empty()) return body;
  for (auto& part : parts) part = with_reciprocals(part);
  const auto* binary = std::get_if<lang::Binary>(&body->node);
  if (!binary || binary->op != lang::BinaryOp::Div) return lang::with_children(body, parts);
  return product({parts[0], lang::make_expr(lang::Call{reciprocal, {parts[1]}})}, "*");
}

std::vector<LinearTerm> linear_terms(const ExprPtr& expr) {
  std::vector<LinearTerm> result;
  for (const auto& term : terms(with_reciprocals(expr), ReductionOp::Sum)) {
    LinearTerm one;
    for (const auto& factor : factors(term, "*")) {
      const auto* call = call_of(factor);
      const bool inverse = call && call->function == reciprocal;
      const auto value = literal_value(inverse ? call->arguments[0] : factor, DType::Float64);
      if (!value || !std::isfinite(*value) || (inverse && *value == 0))
        one.factors.push_back(factor);
      else
        one.coefficient = inverse ? one.coefficient / *value : one.coefficient * *value;
    }
    result.push_back(std::move(one));
  }
  return result;
}

bool same_sums(const Side& a, const Multiples& left, const Side& b, const Multiples& right) {
  LinearSum sum(a, b);
  for (const auto& [factor, expr] : left) sum.add(expr, factor, false);
  for (const auto& [factor, expr] : right) sum.add(expr, -factor, true);
  return sum.is_zero();
}

bool Comparison::same(const ExprPtr& a, const ExprPtr& b) const {
  const auto first = read_number(a), second = read_number(b);
  if (first || second) return first && second && same_read(a_.part->reads[*first], b_.part->reads[*second]);
  const auto times = operator_of(a), other = operator_of(b);
  const auto is_product = [](const std::string& op, const ExprPtr& expr) { return op == "*" || is_exponential(expr); };
  if (is_product(times, a) && is_product(other, b)) return same_products(a, b);
  if (times != other) return false;
  if (!times.empty()) return same_sets(factors(a, times), factors(b, times));
  const auto left = lang::children(a), right = lang::children(b);
  if (left.size() != right.size() || !same_node(a, b, left, right)) return false;
  for (std::size_t c = 0; c < left.size(); ++c)
    if (!same(left[c], right[c])) return false;
  return true;
}

bool Comparison::same_products(const ExprPtr& a, const ExprPtr& b) const {
  const auto parted = [](const ExprPtr& expr) {
    auto all = factors(expr, "*");
    const auto middle = std::stable_partition(all.begin(), all.end(), [](const auto& x) { return !is_exponential(x); });
    return std::pair(std::vector(all.begin(), middle), std::vector(middle, all.end()));
  };
  const auto [left, left_exponentials] = parted(a);
  const auto [right, right_exponentials] = parted(b);
  return same_sets(left, right) && same_exponents(left_exponentials, right_exponentials);
}

bool Comparison::same_exponents(const std::vector<ExprPtr>& left, const std::vector<ExprPtr>& right) const {
  std::map<std::string, LinearSum> sums;
  const auto add = [&](const std::vector<ExprPtr>& all, bool second) {
    for (const auto& each : all)
      sums.try_emplace(exponential(each), a_, b_)
          .first->second.add(lang::children(unrounded(each))[0], second ? -1.0 : 1.0, second);
  };
  if (roundings(left) != roundings(right) || roundings(left).size() > 1) return false;
  add(left, false);
  add(right, true);
  return std::all_of(sums.begin(), sums.end(), [](const auto& sum) { return sum.second.is_zero(); });
}

bool Comparison::same_sets(const std::vector<ExprPtr>& left, std::vector<ExprPtr> right) const {
  if (left.size() != right.size()) return false;
  for (const auto& factor : left) {
    const auto found = std::find_if(right.begin(), right.end(), [&](const auto& other) { return same(factor, other); });
    if (found == right.end()) return false;
    right.erase(found);
  }
  return true;
}

bool Comparison::same_read(const Read& a, const Read& b) const {
  if (a.tensor != b.tensor || a.at.size() != b.at.size()) return false;
  return a_.instance.apply_range(a.at.as_map()).is_equal(b_.instance.apply_range(b.at.as_map()));
}

}  // namespace tc::derive
