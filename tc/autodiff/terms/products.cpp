#include "tc/autodiff/terms/products.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "tc/lang/check/promote.h"

namespace tc::autodiff {

using namespace lang;

namespace {

bool is_float_typed(const ExprPtr& expr) { return expr->type && is_float(*expr->type); }

Factor* find(Term& term, const ExprPtr& expr) {
  const auto found = std::find_if(term.factors.begin(), term.factors.end(),
                                  [&](const Factor& factor) { return equal(factor.expr, expr); });
  return found == term.factors.end() ? nullptr : &*found;
}

int power_of(const Term& term, const ExprPtr& expr) {
  const Factor* found = find(const_cast<Term&>(term), expr);
  return found ? found->power : 0;
}

void put(Term& term, const ExprPtr& expr, int power) {
  Factor* known = find(term, expr);
  if (!known) {
    term.factors.push_back({expr, power});
    return;
  }
  known->power += power;
  std::erase_if(term.factors, [](const Factor& factor) { return factor.power == 0; });
}

bool same_factors(const Term& a, const Term& b) {
  return a.factors.size() == b.factors.size() &&
         std::all_of(a.factors.begin(), a.factors.end(),
                     [&](const Factor& factor) { return power_of(b, factor.expr) == factor.power; });
}

/// The same number for the same factors, in any order.
std::size_t hash_of_factors(const Term& term) {
  std::size_t hash = 0;
  for (const Factor& factor : term.factors) hash += lang::hash_of(factor.expr) * static_cast<std::size_t>(factor.power);
  return hash;
}

/// An integer that is converted silently, with the conversion written where nothing else decides the type.
ExprPtr operand(const ExprPtr& expr, bool convert, DType type) {
  const auto* conversion = std::get_if<Cast>(&expr->node);
  const bool silent = conversion && conversion->implicit && !is_float_typed(conversion->value);
  return silent && convert ? cast(type, conversion->value) : expr;
}

bool decides_type(const ExprPtr& expr) {
  if (constant_value(expr)) return false;
  const auto* conversion = std::get_if<Cast>(&expr->node);
  return !(conversion && conversion->implicit && !is_float_typed(conversion->value));
}

/// The product, with its sign at its first factor or without it.
ExprPtr product(const Term& term, DType type, bool with_sign) {
  const bool convert = std::none_of(term.factors.begin(), term.factors.end(),
                                    [](const Factor& factor) { return decides_type(factor.expr); });
  ExprPtr result;
  const bool negative = with_sign && term.coefficient < 0;
  const auto put = [&](const ExprPtr& value) {
    result = result ? binary(BinaryOp::Mul, result, value) : negative ? negation(value) : value;
  };
  if (const double size = std::abs(term.coefficient); size != 1) put(number(size, type));
  for (const Factor& factor : term.factors)
    for (int i = 0; i < factor.power; ++i) put(operand(factor.expr, convert, type));
  if (!result) put(number(1, type));
  for (const Factor& factor : term.factors)
    for (int i = 0; i < -factor.power; ++i) result = binary(BinaryOp::Div, result, operand(factor.expr, convert, type));
  return result;
}

ExprPtr plain_sum(const Sum& sum, DType type) {
  Sum ordered = sum;
  std::stable_partition(ordered.begin(), ordered.end(), [](const Term& term) { return term.coefficient > 0; });
  if (const auto middle = ordered.begin() + static_cast<std::ptrdiff_t>(ordered.size() / 2);
      ordered.size() > longest_sum)
    return binary(BinaryOp::Add, plain_sum({ordered.begin(), middle}, type), plain_sum({middle, ordered.end()}, type));
  ExprPtr result;
  for (const Term& term : ordered) {
    const ExprPtr value = product(term, type, !result);
    const bool positive = term.coefficient > 0;
    result = result ? binary(positive ? BinaryOp::Add : BinaryOp::Sub, result, value) : value;
  }
  return result ? result : number(0, type);
}

}  // namespace

bool is_short(const Sum& sum) {
  const auto short_term = [](const Term& term) {
    std::size_t factors = 0;
    for (const Factor& factor : term.factors) factors += static_cast<std::size_t>(std::abs(factor.power));
    return factors <= longest_sum;
  };
  return sum.size() <= longest_sum && std::all_of(sum.begin(), sum.end(), short_term);
}

Term times(Term term, const ExprPtr& expr, int power) {
  if (const auto value = constant_value(expr); value && is_float_typed(expr)) {
    term.coefficient = power > 0 ? term.coefficient * *value : term.coefficient / *value;
    return term;
  }
  if (const auto* conversion = std::get_if<Cast>(&expr->node))
    if (conversion->implicit && is_float_typed(conversion->value))
      return times(std::move(term), conversion->value, power);
  if (const auto* unary = std::get_if<Unary>(&expr->node); unary && is_float_typed(expr)) {
    term.coefficient = -term.coefficient;
    return times(std::move(term), unary->value, power);
  }
  const auto* pair = std::get_if<Binary>(&expr->node);
  if (pair && is_float_typed(expr) && (pair->op == BinaryOp::Mul || pair->op == BinaryOp::Div))
    return times(times(std::move(term), pair->left, power), pair->right, pair->op == BinaryOp::Mul ? power : -power);
  const auto* call = std::get_if<Call>(&expr->node);
  if (call && call->function == "fdivide")
    return times(times(std::move(term), call->arguments[0], power), call->arguments[1], -power);
  put(term, expr, power);
  return term;
}

Sum times(Sum sum, const ExprPtr& expr, int power) {
  for (Term& term : sum) term = times(std::move(term), expr, power);
  return sum;
}

Term multiplied(Term a, const Term& b, int power) {
  a.coefficient = power > 0 ? a.coefficient * b.coefficient : a.coefficient / b.coefficient;
  for (const Factor& factor : b.factors) put(a, factor.expr, power * factor.power);
  return a;
}

Sum times(const Sum& a, const Sum& b) {
  const auto type_a = natural_type(a), type_b = natural_type(b);
  if (a.size() > 1 && b.size() > 1 && type_a && type_b)
    return {times(times(Term{}, to_expr(a, *type_a)), to_expr(b, *type_b))};
  GrowingSum result;
  for (const Term& x : a)
    for (const Term& y : b) result.add(multiplied(x, y));
  return std::move(result).take();
}

Sum to_sum(const ExprPtr& expr) {
  const auto* pair = std::get_if<Binary>(&expr->node);
  if (pair && is_float_typed(expr) && (pair->op == BinaryOp::Add || pair->op == BinaryOp::Sub))
    return plus(to_sum(pair->left), scaled(to_sum(pair->right), pair->op == BinaryOp::Add ? 1 : -1));
  return plus({}, {times(Term{}, expr)});
}

GrowingSum::GrowingSum(Sum sum) : sum_(std::move(sum)) {
  for (std::size_t i = 0; i < sum_.size(); ++i) places_.emplace(hash_of_factors(sum_[i]), i);
}

void GrowingSum::add(const Term& term) {
  const std::size_t hash = hash_of_factors(term);
  const auto [first, last] = places_.equal_range(hash);
  const auto known = std::find_if(first, last, [&](const auto& at) { return same_factors(sum_[at.second], term); });
  if (known != last) {
    sum_[known->second].coefficient += term.coefficient;
    return;
  }
  places_.emplace(hash, sum_.size());
  sum_.push_back(term);
}

Sum GrowingSum::take() && {
  std::erase_if(sum_, [](const Term& term) { return term.coefficient == 0; });
  return std::move(sum_);
}

Sum plus(Sum a, const Sum& b) {
  GrowingSum sum(std::move(a));
  sum.add(b);
  return std::move(sum).take();
}

Sum scaled(Sum sum, double factor) {
  for (Term& term : sum) term.coefficient *= factor;
  return sum;
}

Term common_factor(const Sum& sum) {
  if (sum.empty()) return {};
  Term common = sum.front();
  for (const Term& term : sum) {
    if (std::abs(term.coefficient) != std::abs(common.coefficient)) common.coefficient = 1;
    for (Factor& factor : common.factors) {
      const int power = power_of(term, factor.expr);
      if ((power > 0) != (factor.power > 0)) factor.power = 0;
      factor.power = factor.power > 0 ? std::min(factor.power, power) : std::max(factor.power, power);
    }
    std::erase_if(common.factors, [](const Factor& factor) { return factor.power == 0; });
  }
  const bool negative = std::all_of(sum.begin(), sum.end(), [](const Term& term) { return term.coefficient < 0; });
  common.coefficient = std::abs(common.coefficient) * (negative ? -1 : 1);
  return common;
}

Sum divided(const Sum& sum, const Term& factor) {
  Sum result;
  for (const Term& term : sum) result.push_back(multiplied(term, factor, -1));
  return result;
}

ExprPtr to_expr(const Sum& sum, DType type) {
  if (sum.size() < 2) return plain_sum(sum, type);
  Term common = common_factor(sum);
  if (common.factors.empty()) return plain_sum(sum, type);
  const ExprPtr inner = plain_sum(divided(sum, common), type);
  std::vector<Factor> factors = common.factors;
  const auto divisors =
      std::find_if(factors.begin(), factors.end(), [](const Factor& factor) { return factor.power < 0; });
  factors.insert(divisors, Factor{inner, 1});
  common.factors = factors;
  return plain_sum({common}, type);
}

std::optional<DType> natural_type(const Sum& sum) {
  std::optional<DType> type;
  for (const Term& term : sum)
    for (const Factor& factor : term.factors) {
      if (!decides_type(factor.expr) || !is_float_typed(factor.expr)) continue;
      const auto part = written(factor.expr)->type;
      type = type ? promote(*type, *part) : part;
    }
  return type;
}

double cost(const ExprPtr& expr) {
  double all = 0;
  for (const ExprPtr& part : children(expr))
    if (is_float_typed(part)) all += cost(part);
  if (std::holds_alternative<Call>(expr->node)) return all + 20;
  const auto* pair = std::get_if<Binary>(&expr->node);
  if (pair) return all + (pair->op == BinaryOp::Div ? 4 : 1);
  if (std::holds_alternative<Access>(expr->node)) return all + 0.5;
  return all;
}

double cost(const Sum& sum) {
  const ExprPtr expr = to_expr(sum, DType::Float32);
  return cost(expr);
}

bool same(const Sum& a, const Sum& b) { return plus(a, scaled(b, -1)).empty() && a.size() == b.size(); }

}  // namespace tc::autodiff
