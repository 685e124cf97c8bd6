#include "tc/halide_bridge/lower/linear_index.h"

#include <algorithm>
#include <numeric>

#include "tc/base/ceil_div.h"
#include "tc/halide_bridge/lower/conditional.h"
#include "tc/halide_bridge/lower/program.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

/// The positive number that \p expr is.
std::optional<std::int64_t> divisor_of(const Expr& expr) {
  const auto* number = expr.as<ir::IntImm>();
  return number && number->value > 0 ? std::optional(number->value) : std::nullopt;
}

/// The terms of \p sum with factors above 0, or those below with their signs turned, and its constant likewise.
Expr one_side(const LinearIndex& sum, bool positive) {
  Expr result;
  const auto append = [&](const Expr& term) { result = result.defined() ? result + term : term; };
  for (const auto& [part, factor] : sum.terms) {
    if ((factor > 0) != positive) continue;
    const auto times = std::abs(factor);
    append(times == 1 ? part : part * index_value(times));
  }
  const auto constant = positive ? sum.constant : -sum.constant;
  if (constant > 0) append(index_value(constant));
  return result.defined() ? result : index_value(0);
}

std::int64_t common_factor(const LinearIndex& sum) {
  std::int64_t result = 0;
  for (const auto& term : sum.terms) result = std::gcd(result, term.factor);
  return result;
}

/// \p sum with each factor, and the constant, divided by \p divisor, rounded down.
LinearIndex divided(LinearIndex sum, std::int64_t divisor) {
  for (auto& term : sum.terms) term.factor /= divisor;
  sum.constant = tc::floor_div(sum.constant, divisor);
  return sum;
}

/// \p sum with a - divisor * (a / divisor) in the place of each a % \p divisor.
LinearIndex without_remainders(const LinearIndex& sum, std::int64_t divisor) {
  LinearIndex result;
  result.constant = sum.constant;
  for (const auto& [part, factor] : sum.terms) {
    const auto* modulo = part.as<ir::Mod>();
    if (!modulo || divisor_of(modulo->b) != divisor) {
      result.add(part, factor);
      continue;
    }
    result.add(linear_index(modulo->a), factor);
    result.add(ir::Div::make(modulo->a, modulo->b), -divisor * factor);
  }
  return result;
}

template <typename Node>
LinearIndex combined(const Node* pair, std::int64_t factor) {
  LinearIndex result = linear_index(pair->a);
  result.add(linear_index(pair->b), factor);
  return result;
}

}  // namespace

Expr to_expr(const LinearIndex& sum) {
  const Expr added = one_side(sum, true), taken = one_side(sum, false);
  if (ir::is_const_zero(taken)) return added;
  return ir::is_const_zero(added) && sum.terms.empty() ? index_value(sum.constant) : added - taken;
}

void LinearIndex::add(const Expr& part, std::int64_t factor) {
  const auto known =
      std::find_if(terms.begin(), terms.end(), [&](const Term& term) { return ir::equal(term.part, part); });
  if (known == terms.end()) {
    if (factor != 0) terms.push_back({part, factor});
    return;
  }
  known->factor += factor;
  if (known->factor == 0) terms.erase(known);
}

void LinearIndex::add(const LinearIndex& other, std::int64_t factor) {
  constant += factor * other.constant;
  for (const auto& term : other.terms) add(term.part, factor * term.factor);
}

LinearIndex linear_index(const Expr& expr) {
  LinearIndex result;
  if (const auto* number = expr.as<ir::IntImm>()) {
    result.constant = number->value;
    return result;
  }
  if (const auto* sum = expr.as<ir::Add>()) return combined(sum, 1);
  if (const auto* difference = expr.as<ir::Sub>()) return combined(difference, -1);
  if (const auto* product = expr.as<ir::Mul>()) {
    const auto a = linear_index(product->a), b = linear_index(product->b);
    if (a.terms.empty() || b.terms.empty()) {
      result.add(a.terms.empty() ? b : a, a.terms.empty() ? a.constant : b.constant);
      return result;
    }
  }
  result.add(expr, 1);
  return result;
}

LinearIndices::LinearIndices(const std::vector<std::string>& iterators, const lang::Box& domain)
    : iterators_(iterators), domain_(domain) {}

Expr LinearIndices::simplified(const Expr& expr) const {
  if (expr.type().is_bool()) return condition(expr);
  return expr.type() == Halide::Int(64) ? to_expr(read(expr)) : expr;
}

LinearIndex LinearIndices::read(const Expr& expr) const {
  LinearIndex result;
  const LinearIndex sum = linear_index(expr);
  result.constant = sum.constant;
  for (const auto& [part, factor] : sum.terms) {
    const auto* division = part.as<ir::Div>();
    const auto* modulo = part.as<ir::Mod>();
    const auto divisor = division ? divisor_of(division->b) : modulo ? divisor_of(modulo->b) : std::nullopt;
    if (!divisor)
      result.add(part, factor);
    else
      result.add(division ? quotient(read(division->a), *divisor) : remainder(read(modulo->a), *divisor), factor);
  }
  return result;
}

LinearIndex LinearIndices::quotient(const LinearIndex& given, std::int64_t divisor) const {
  const LinearIndex sum = without_remainders(given, divisor);
  LinearIndex whole, rest;
  for (const auto& term : sum.terms) (term.factor % divisor == 0 ? whole : rest).add(term.part, term.factor);
  whole = divided(whole, divisor);
  whole.constant = tc::floor_div(sum.constant, divisor);
  rest.constant = sum.constant - divisor * whole.constant;
  const auto range = bounds(rest);
  if (range && tc::floor_div(range->low, divisor) == tc::floor_div(range->high, divisor))
    whole.constant += tc::floor_div(range->low, divisor);
  else
    whole.add(ir::Div::make(to_expr(rest), index_value(divisor)), 1);
  return whole;
}

LinearIndex LinearIndices::remainder(const LinearIndex& given, std::int64_t divisor) const {
  const LinearIndex sum = without_remainders(given, divisor);
  LinearIndex rest;
  for (const auto& term : sum.terms) rest.add(term.part, term.factor - divisor * tc::floor_div(term.factor, divisor));
  rest.constant = sum.constant - divisor * tc::floor_div(sum.constant, divisor);
  const auto range = bounds(rest);
  if (range && tc::floor_div(range->low, divisor) == tc::floor_div(range->high, divisor)) {
    rest.constant -= divisor * tc::floor_div(range->low, divisor);
    return rest;
  }
  LinearIndex result;
  result.add(ir::Mod::make(to_expr(rest), index_value(divisor)), 1);
  return result;
}

Expr LinearIndices::condition(const Expr& expr) const {
  const auto difference = [&](const Expr& a, const Expr& b, std::int64_t constant) {
    LinearIndex result = read(a);
    result.add(read(b), -1);
    result.constant += constant;
    return result;
  };
  const auto is_index = [](const auto* pair) { return pair && pair->a.type() == Halide::Int(64); };
  if (const auto* both = expr.as<ir::And>()) {
    const Expr a = condition(both->a), b = condition(both->b);
    if (ir::is_const_one(a) || ir::is_const_zero(b)) return b;
    return ir::is_const_one(b) || ir::is_const_zero(a) ? a : ir::And::make(a, b);
  }
  if (const auto* less = expr.as<ir::LT>(); is_index(less)) return not_negative(difference(less->b, less->a, -1));
  if (const auto* less = expr.as<ir::LE>(); is_index(less)) return not_negative(difference(less->b, less->a, 0));
  if (const auto* more = expr.as<ir::GT>(); is_index(more)) return not_negative(difference(more->a, more->b, -1));
  if (const auto* more = expr.as<ir::GE>(); is_index(more)) return not_negative(difference(more->a, more->b, 0));
  if (const auto* same = expr.as<ir::EQ>(); is_index(same)) return zero(difference(same->a, same->b, 0));
  return expr;
}

Expr LinearIndices::not_negative(LinearIndex sum) const {
  if (const auto factor = common_factor(sum); factor > 1) sum = divided(sum, factor);
  const auto range = bounds(sum);
  if (range && range->low >= 0) return ir::make_bool(true);
  if (range && range->high < 0) return ir::make_bool(false);
  return ir::LE::make(one_side(sum, false), one_side(sum, true));
}

Expr LinearIndices::zero(LinearIndex sum) const {
  const auto factor = common_factor(sum);
  if (factor > 1 && sum.constant % factor != 0) return ir::make_bool(false);
  if (factor > 1) sum = divided(sum, factor);
  const auto range = bounds(sum);
  if (range && (range->low > 0 || range->high < 0)) return ir::make_bool(false);
  if (range && range->low == range->high) return ir::make_bool(true);
  return ir::EQ::make(one_side(sum, true), one_side(sum, false));
}

std::optional<LinearIndices::Bounds> LinearIndices::bounds(const LinearIndex& sum) const {
  Bounds result{sum.constant, sum.constant};
  for (const auto& [part, factor] : sum.terms) {
    const auto range = bounds_of_part(part);
    if (!range) return std::nullopt;
    result.low += factor * (factor > 0 ? range->low : range->high);
    result.high += factor * (factor > 0 ? range->high : range->low);
  }
  return result;
}

std::optional<LinearIndices::Bounds> LinearIndices::bounds_of_part(const Expr& part) const {
  if (const auto* variable = part.as<ir::Variable>()) {
    const auto at = std::find(iterators_.begin(), iterators_.end(), variable->name);
    if (at == iterators_.end()) return std::nullopt;
    const auto& range = domain_[static_cast<std::size_t>(at - iterators_.begin())];
    return Bounds{range.min, range.min + range.extent - 1};
  }
  if (const auto* modulo = part.as<ir::Mod>())
    if (const auto divisor = divisor_of(modulo->b)) return Bounds{0, *divisor - 1};
  const auto* division = part.as<ir::Div>();
  const auto divisor = division ? divisor_of(division->b) : std::nullopt;
  const auto range = divisor ? bounds(linear_index(division->a)) : std::nullopt;
  if (!range) return std::nullopt;
  return Bounds{tc::floor_div(range->low, *divisor), tc::floor_div(range->high, *divisor)};
}

}  // namespace tc::halide_bridge
