#pragma once

#include <utility>
#include <vector>

#include "tc/derive/proof/flatten.h"

namespace tc::derive {

/// Quotients of floats as products with reciprocals, "1/"(x), which no text has: a / b * c -> a * "1/"(b) * c.
lang::ExprPtr with_reciprocals(const lang::ExprPtr& body);

/// Instances of a definition: { point -> instance } from the points at which two definitions are compared.
struct Side {
  const FlatCase* part;
  isl::map instance;
};

/// Are two expressions, each in the reads of its side, the same number at each point?
///
///   - operands of operators that commute may stand in any order
///   - exp(x) * exp(y) = exp(x + y), for exp2 and exp10 alike, where the sums of exponents are equal as sums of products with numbers
///     as factors: exp(s - p) * exp(p - q) = exp(s - q)
class Comparison {
 public:
  Comparison(Side a, Side b) : a_(std::move(a)), b_(std::move(b)) {}

  /// \p a of the first side, \p b of the second one.
  bool same(const lang::ExprPtr& a, const lang::ExprPtr& b) const;

 private:
  bool same_read(const Read& a, const Read& b) const;
  bool same_sets(const std::vector<lang::ExprPtr>& left, std::vector<lang::ExprPtr> right) const;
  bool same_products(const lang::ExprPtr& a, const lang::ExprPtr& b) const;
  bool same_exponents(const std::vector<lang::ExprPtr>& left, const std::vector<lang::ExprPtr>& right) const;

  Side a_, b_;
};

/// A product with a number in front, of one of two sides: a part of a sum.
struct LinearTerm {
  double coefficient = 1;
  std::vector<lang::ExprPtr> factors;
};
/// \p expr as a sum of such products.
///
///   0.5 * (s - m) / 2      0.25 s, -0.25 m
std::vector<LinearTerm> linear_terms(const lang::ExprPtr& expr);

/// Expressions with numbers as factors.
using Multiples = std::vector<std::pair<double, lang::ExprPtr>>;
/// Is the sum of \p left, of side \p a, that of \p right, of side \p b, as sums of linear_terms()?
bool same_sums(const Side& a, const Multiples& left, const Side& b, const Multiples& right);

}  // namespace tc::derive
