#pragma once

#include <map>
#include <vector>

#include "tc/autodiff/terms/expressions.h"

/// Values of gradients as sums of products: a gradient has no text of the user that its arithmetic must follow.
namespace tc::autodiff {

struct Factor {
  ExprPtr expr;  ///< no product, quotient, sign or literal
  int power = 1;
};

/// coefficient * factors
struct Term {
  double coefficient = 1;
  std::vector<Factor> factors = {};  ///< different ones, powers not 0, in the order they were multiplied
};
using Sum = std::vector<Term>;

/// Terms of a sum and factors of a term that passes put together; what has more is left in several statements. A text's
/// expressions are not as deep as a program may be long, and passes look at a whole sum for each of its terms.
constexpr std::size_t longest_sum = 64;
/// Has \p sum, and each term of it, at most longest_sum parts?
bool is_short(const Sum& sum);

/// \p term times \p expr to the power of 1 or -1, \p expr taken apart.
///
///   g * (a * -b / 2)     gives    -0.5 * g * a * b
Term times(Term term, const ExprPtr& expr, int power = 1);
Sum times(Sum sum, const ExprPtr& expr, int power = 1);
/// The product; of two sums of several terms that of the sums, as products of all pairs would be many.
///
///   (a - b) * (c - d)
Sum times(const Sum& a, const Sum& b);
/// The products of what \p expr adds up, sums within products kept.
Sum to_sum(const ExprPtr& expr);
/// \p a + \p b with equal products joined; what adds up to 0 is left out.
Sum plus(Sum a, const Sum& b);
/// A sum that grows: plus() of many, in a time that is linear in them.
class GrowingSum {
 public:
  GrowingSum() = default;
  explicit GrowingSum(Sum sum);
  /// Joins \p term with an equal product.
  void add(const Term& term);
  /// Joins the terms of \p sum.
  void add(const Sum& sum) {
    for (const Term& term : sum) add(term);
  }
  /// What was added up.
  Sum take() &&;

 private:
  Sum sum_;
  std::multimap<std::size_t, std::size_t> places_;  ///< in the sum, by the hash of the factors
};
Sum scaled(Sum sum, double factor);

/// The factors that all of \p sum hold, without coefficients but one that all share.
Term common_factor(const Sum& sum);
/// \p sum / \p factor.
Sum divided(const Sum& sum, const Term& factor);
Term multiplied(Term a, const Term& b, int power = 1);

/// \p sum as an expression of \p type, common factors in front of the sum: O * (d_O - s).
ExprPtr to_expr(const Sum& sum, DType type);
/// The type that \p sum has without a context; nothing for a literal.
std::optional<DType> natural_type(const Sum& sum);

/// \p sum with the expressions of its factors rewritten.
template <typename F>
Sum map_factors(const Sum& sum, F&& rewrite);

/// The operations one evaluation of \p sum takes, weighted: a product 1, a quotient 4, a function 20.
double cost(const Sum& sum);
double cost(const ExprPtr& expr);

/// Equal up to the order of terms and factors.
bool same(const Sum& a, const Sum& b);

template <typename F>
Sum map_factors(const Sum& sum, F&& rewrite) {
  GrowingSum result;
  for (const Term& term : sum) {
    Term made{term.coefficient};
    for (const Factor& factor : term.factors) {
      const ExprPtr value = rewrite(factor.expr);
      for (int i = 0; i < std::abs(factor.power); ++i) made = times(std::move(made), value, factor.power > 0 ? 1 : -1);
    }
    result.add(made);
  }
  return std::move(result).take();
}

}  // namespace tc::autodiff
