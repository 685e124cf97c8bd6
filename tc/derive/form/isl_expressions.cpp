#include "tc/derive/form/isl_expressions.h"

#include <cstdlib>

#include "tc/derive/form/isl_text.h"
#include "tc/polyhedral/core/constraints.h"

namespace tc::derive {

using lang::BinaryOp;
using lang::ExprPtr;

ExprPtr number(std::int64_t value) {
  if (value >= 0) return lang::make_expr(lang::IntLiteral{static_cast<std::uint64_t>(value)});
  return lang::make_expr(lang::Unary{lang::UnaryOp::Negate, number(-value)});
}

ExprPtr joined(const ExprPtr& a, BinaryOp op, const ExprPtr& b) {
  if (!a) return b;
  if (!b) return a;
  return lang::make_expr(lang::Binary{op, a, b});
}

namespace {

/// A sum of terms with integer factors, negative ones subtracted.
class Sum {
 public:
  void add(std::int64_t times, const ExprPtr& value) {
    if (times == 0) return;
    const auto size = std::abs(times);
    const ExprPtr term = size == 1 ? value : joined(number(size), BinaryOp::Mul, value);
    (times > 0 ? positive_ : negative_).push_back(term);
  }
  ExprPtr with_constant(std::int64_t constant) const {
    ExprPtr result;
    for (const auto& term : positive_) result = joined(result, BinaryOp::Add, term);
    if (!result && (constant != 0 || negative_.empty())) {
      result = number(constant);
      constant = 0;
    }
    for (const auto& term : negative_)
      result = result ? joined(result, BinaryOp::Sub, term) : lang::make_expr(lang::Unary{lang::UnaryOp::Negate, term});
    if (constant != 0)
      result = joined(result, constant > 0 ? BinaryOp::Add : BinaryOp::Sub, number(std::abs(constant)));
    return result;
  }

 private:
  std::vector<ExprPtr> positive_, negative_;
};

std::int64_t scaled(const isl::val& value, std::int64_t by) { return value.num_si() * (by / value.den_si()); }

/// floor(aff), as sums of multiples before one division.
ExprPtr expression(const isl::aff& aff, const std::vector<std::string>& iterators) {
  const auto ctx = aff.ctx();
  const auto denominator = polyhedral::call(ctx, isl_aff_get_denominator_val, aff.get()).num_si();
  Sum sum;
  for (std::size_t d = 0; d < iterators.size(); ++d) {
    const auto value = polyhedral::call(ctx, isl_aff_get_coefficient_val, aff.get(), isl_dim_in, static_cast<int>(d));
    sum.add(scaled(value, denominator), lang::make_expr(lang::Name{iterators[d]}));
  }
  for (int d = 0; d < isl_aff_dim(aff.get(), isl_dim_div); ++d) {
    const auto value = polyhedral::call(ctx, isl_aff_get_coefficient_val, aff.get(), isl_dim_div, d);
    if (!value.is_zero())
      sum.add(scaled(value, denominator), expression(polyhedral::call(ctx, isl_aff_get_div, aff.get(), d), iterators));
  }
  const auto top = sum.with_constant(scaled(aff.constant_val(), denominator));
  return denominator == 1 ? top : joined(top, BinaryOp::Div, number(denominator));
}

/// Constraints as sums of dimensions, divisions and the constant. Those that hold for all indices, as
/// what defines a division does, are left out.
class Rows {
 public:
  Rows(const isl::basic_set& set, const std::vector<std::string>& iterators) : set_(set), iterators_(iterators) {
    for (const auto& name : iterators) columns_.push_back(lang::make_expr(lang::Name{name}));
    for (int d = 0; d < isl_basic_set_dim(set.get(), isl_dim_div); ++d)
      columns_.push_back(expression(polyhedral::call(set.ctx(), isl_basic_set_get_div, set.get(), d), iterators));
  }

  void add(const polyhedral::Constraint& row, ExprPtr& all) const {
    const auto term = comparison(row);
    if (!involves_division(row) || !condition_set(set_.ctx(), term, iterators_).complement().is_empty())
      all = joined(all, BinaryOp::And, term);
  }

 private:
  bool involves_division(const polyhedral::Constraint& row) const {
    for (std::size_t c = iterators_.size(); c < columns_.size(); ++c)
      if (row.factors[c] != 0) return true;
    return false;
  }
  /// The row is 0, or not negative: the constant stands on the right, a positive term first.
  ExprPtr comparison(const polyhedral::Constraint& row) const {
    Sum sum, negative;
    bool positive = false;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const auto value = row.factors[c];
      sum.add(value, columns_[c]);
      negative.add(-value, columns_[c]);
      positive = positive || value > 0;
    }
    const auto constant = row.constant;
    if (row.equality)
      return joined((positive ? sum : negative).with_constant(0), BinaryOp::Eq,
                    number(positive ? -constant : constant));
    if (!positive) return joined(negative.with_constant(0), BinaryOp::Le, number(constant));
    return joined(sum.with_constant(0), BinaryOp::Ge, number(-constant));
  }

  isl::basic_set set_;
  const std::vector<std::string>& iterators_;
  std::vector<ExprPtr> columns_;
};

ExprPtr conjunction(const isl::basic_set& set, const std::vector<std::string>& iterators) {
  const Rows rows(set, iterators);
  ExprPtr result;
  for (const auto& row : polyhedral::constraints(set)) rows.add(row, result);
  return result;
}

}  // namespace

std::vector<ExprPtr> index_expressions(const isl::multi_aff& function, const std::vector<std::string>& iterators) {
  std::vector<ExprPtr> result;
  for (int o = 0; o < static_cast<int>(function.size()); ++o) result.push_back(expression(function.at(o), iterators));
  return result;
}

ExprPtr condition_expression(const isl::set& set, const std::vector<std::string>& iterators) {
  const auto known = polyhedral::call(set.ctx(), isl_set_compute_divs, set.coalesce().release());
  if (known.is_empty()) return lang::make_expr(lang::BoolLiteral{false});
  ExprPtr result;
  bool all = false;
  known.foreach_basic_set([&](const isl::basic_set& part) {
    const auto term = conjunction(part, iterators);
    all = all || !term;
    result = joined(result, BinaryOp::Or, term);
  });
  return all ? nullptr : result;
}

}  // namespace tc::derive
