#include "tc/derive/form/isl_text.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "tc/base/str.h"

namespace tc::derive {

using lang::BinaryOp;
using lang::ExprPtr;

std::vector<std::string> dimension_names(int count, int first) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(str("i", first + i));
  return names;
}

std::string tuple_text(int count) { return str("[", join(dimension_names(count)), "]"); }

isl::set box_set(isl::ctx ctx, const lang::Box& box) {
  std::vector<std::string> bounds{"true"};
  for (std::size_t d = 0; d < box.size(); ++d)
    bounds.push_back(str(box[d].min, " <= i", d, " < ", box[d].min + box[d].extent));
  return isl::set(ctx, str("{ ", tuple_text(static_cast<int>(box.size())), " : ", join(bounds, " and "), " }"));
}

isl::multi_aff function(isl::ctx ctx, int dimensions, const std::vector<std::string>& values) {
  std::vector<std::string> all;
  for (const auto& value : values) all.push_back(str("(", value, ")"));
  return isl::multi_aff(ctx, str("{ ", tuple_text(dimensions), " -> [", join(all), "] }"));
}

isl::multi_aff projection(isl::ctx ctx, int dimensions, const std::vector<int>& kept) {
  std::vector<std::string> values;
  for (int d : kept) values.push_back(str("i", d));
  return function(ctx, dimensions, values);
}

namespace {

/// The bounds that constraints on one dimension alone state; where there are none, nothing.
struct Bounds {
  std::optional<std::int64_t> low, high;
};

std::int64_t element(isl_mat* matrix, int row, int column) {
  return isl::manage(isl_mat_get_element_val(matrix, row, column)).num_si();
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

void take_bounds(isl_mat* matrix, bool equality, std::vector<Bounds>& bounds) {
  const int columns = isl_mat_cols(matrix);
  for (int row = 0; row < isl_mat_rows(matrix); ++row) {
    int only = -1, count = 0;
    for (int c = 0; c + 1 < columns; ++c)
      if (element(matrix, row, c) != 0) {
        only = c;
        ++count;
      }
    if (count != 1 || only >= static_cast<int>(bounds.size())) continue;
    const auto factor = element(matrix, row, only), constant = element(matrix, row, columns - 1);
    auto& own = bounds[static_cast<std::size_t>(only)];
    const auto least = factor > 0 ? -floor_divide(constant, factor) : -floor_divide(-constant, -factor);
    if (factor > 0 || equality) own.low = std::max(own.low.value_or(least), least);
    const auto most = floor_divide(factor > 0 ? -constant : constant, std::abs(factor));
    if (factor < 0 || equality) own.high = std::min(own.high.value_or(most), most);
  }
  isl_mat_free(matrix);
}

lang::IntegerRange exact_range(const isl::set& set, int d) {
  const auto low = set.dim_min_val(d), high = set.dim_max_val(d);
  if (!low.is_int() || !high.is_int()) throw Refusal{"an index has no bounds"};
  return {low.num_si(), high.num_si() - low.num_si() + 1};
}

}  // namespace

lang::Box hull(const isl::set& set) {
  lang::Box box;
  for (int d = 0; d < polyhedral::dimensions(set); ++d) box.push_back(exact_range(set, d));
  return box;
}

lang::Box stated_box(const isl::set& set) {
  const auto count = static_cast<std::size_t>(polyhedral::dimensions(set));
  std::vector<Bounds> all(count);
  std::vector<bool> open(count, false);
  bool first = true;
  set.foreach_basic_set([&](const isl::basic_set& part) {
    std::vector<Bounds> own(count);
    take_bounds(isl_basic_set_equalities_matrix(part.get(), isl_dim_set, isl_dim_div, isl_dim_param, isl_dim_cst), true,
                own);
    take_bounds(isl_basic_set_inequalities_matrix(part.get(), isl_dim_set, isl_dim_div, isl_dim_param, isl_dim_cst),
                false, own);
    for (std::size_t d = 0; d < count; ++d) {
      open[d] = open[d] || !own[d].low || !own[d].high;
      if (open[d]) continue;
      all[d].low = first ? own[d].low : std::min(all[d].low, own[d].low);
      all[d].high = first ? own[d].high : std::max(all[d].high, own[d].high);
    }
    first = false;
  });
  lang::Box box;
  for (std::size_t d = 0; d < count; ++d)
    box.push_back(open[d] || first ? exact_range(set, static_cast<int>(d))
                                   : lang::IntegerRange{*all[d].low, *all[d].high - *all[d].low + 1});
  return box;
}

namespace {

bool depends(const isl::aff& aff, int dimension) {
  return isl_aff_involves_dims(aff.get(), isl_dim_in, static_cast<unsigned>(dimension), 1) == isl_bool_true;
}

int outputs(const isl::multi_aff& function) { return static_cast<int>(function.size()); }

}  // namespace

bool depends(const isl::multi_aff& function, int output, int dimension) {
  return depends(function.at(output), dimension);
}

bool depends(const isl::multi_aff& function, int dimension) {
  for (int o = 0; o < outputs(function); ++o)
    if (depends(function, o, dimension)) return true;
  return false;
}

std::int64_t factor(const isl::multi_aff& function, int output, int dimension) {
  const auto aff = function.at(output);
  const auto value = polyhedral::call(aff.ctx(), isl_aff_get_coefficient_val, aff.get(), isl_dim_in, dimension);
  return value.is_int() ? value.num_si() : 0;
}

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

/// The value of an expression of literals.
std::optional<std::int64_t> constant(const ExprPtr& expr) {
  if (const auto* literal = std::get_if<lang::IntLiteral>(&expr->node))
    return static_cast<std::int64_t>(literal->value);
  if (const auto* cast = std::get_if<lang::Cast>(&expr->node)) return constant(cast->value);
  if (const auto* unary = std::get_if<lang::Unary>(&expr->node); unary && unary->op == lang::UnaryOp::Negate)
    if (const auto value = constant(unary->value)) return -*value;
  const auto* binary = std::get_if<lang::Binary>(&expr->node);
  if (!binary) return std::nullopt;
  const auto a = constant(binary->left), b = constant(binary->right);
  if (!a || !b) return std::nullopt;
  if (binary->op == BinaryOp::Add) return *a + *b;
  if (binary->op == BinaryOp::Sub) return *a - *b;
  if (binary->op == BinaryOp::Mul) return *a * *b;
  return std::nullopt;
}

std::string binary_text(const lang::Binary& binary, const std::vector<std::string>& iterators) {
  const auto left = index_text(binary.left, iterators);
  const auto value = constant(binary.right);
  switch (binary.op) {
    case BinaryOp::Add:
      return str("(", left, " + ", index_text(binary.right, iterators), ")");
    case BinaryOp::Sub:
      return str("(", left, " - ", index_text(binary.right, iterators), ")");
    case BinaryOp::Mul:
      if (value) return str(*value, " * ", left);
      if (const auto first = constant(binary.left)) return str(*first, " * ", index_text(binary.right, iterators));
      break;
    case BinaryOp::Div:
      if (value && *value > 0) return str("floor(", left, " / ", *value, ")");
      break;
    case BinaryOp::Mod:
      if (value && *value > 0) return str("(", left, " mod ", *value, ")");
      break;
    default:
      break;
  }
  throw Refusal{"a subscript is not a sum of iterators times numbers, and quotients of these"};
}

const char* comparison(BinaryOp op) {
  switch (op) {
    case BinaryOp::Lt:
      return "<";
    case BinaryOp::Le:
      return "<=";
    case BinaryOp::Gt:
      return ">";
    case BinaryOp::Ge:
      return ">=";
    case BinaryOp::Eq:
      return "=";
    case BinaryOp::Ne:
      return "!=";
    default:
      throw Refusal{"a condition is no comparison of indices"};
  }
}

}  // namespace

std::string index_text(const ExprPtr& expr, const std::vector<std::string>& iterators) {
  if (const auto value = constant(expr)) return str("(", *value, ")");
  if (const auto* cast = std::get_if<lang::Cast>(&expr->node)) return index_text(cast->value, iterators);
  if (const auto* name = std::get_if<lang::Name>(&expr->node)) {
    const auto found = std::find(iterators.begin(), iterators.end(), name->id);
    if (found == iterators.end()) throw Refusal{str("'", name->id, "' is no iterator")};
    return str("i", found - iterators.begin());
  }
  if (const auto* unary = std::get_if<lang::Unary>(&expr->node); unary && unary->op == lang::UnaryOp::Negate)
    return str("(-", index_text(unary->value, iterators), ")");
  if (const auto* binary = std::get_if<lang::Binary>(&expr->node)) return binary_text(*binary, iterators);
  throw Refusal{"a subscript is not made of iterators and numbers"};
}

isl::set condition_set(isl::ctx ctx, const ExprPtr& expr, const std::vector<std::string>& iterators) {
  if (const auto* literal = std::get_if<lang::BoolLiteral>(&expr->node))
    return isl::set(
        ctx, str("{ ", tuple_text(static_cast<int>(iterators.size())), " : ", literal->value ? "true" : "false", " }"));
  if (const auto* unary = std::get_if<lang::Unary>(&expr->node); unary && unary->op == lang::UnaryOp::Not)
    return condition_set(ctx, unary->value, iterators).complement();
  const auto* binary = std::get_if<lang::Binary>(&expr->node);
  if (!binary) throw Refusal{"a condition is not one on indices"};
  if (binary->op == BinaryOp::And)
    return condition_set(ctx, binary->left, iterators).intersect(condition_set(ctx, binary->right, iterators));
  if (binary->op == BinaryOp::Or)
    return condition_set(ctx, binary->left, iterators).unite(condition_set(ctx, binary->right, iterators));
  const std::string compare = comparison(binary->op);
  return isl::set(
      ctx, str("{ ", tuple_text(static_cast<int>(iterators.size())), " : ", index_text(binary->left, iterators), " ",
               compare, " ", index_text(binary->right, iterators), " }"));
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

/// The rows of \p matrix as sums: columns are dimensions, divisions, the constant. Those that hold for all indices, as
/// what defines a division does, are left out.
class Rows {
 public:
  Rows(const isl::basic_set& set, const std::vector<std::string>& iterators) : set_(set), iterators_(iterators) {
    for (const auto& name : iterators) columns_.push_back(lang::make_expr(lang::Name{name}));
    for (int d = 0; d < isl_basic_set_dim(set.get(), isl_dim_div); ++d)
      columns_.push_back(expression(polyhedral::call(set.ctx(), isl_basic_set_get_div, set.get(), d), iterators));
  }

  void add(isl_mat* matrix, bool equality, ExprPtr& all) const {
    for (int row = 0; row < isl_mat_rows(matrix); ++row) {
      const auto term = comparison(matrix, row, equality);
      if (!involves_division(matrix, row) || !condition_set(set_.ctx(), term, iterators_).complement().is_empty())
        all = joined(all, BinaryOp::And, term);
    }
    isl_mat_free(matrix);
  }

 private:
  std::int64_t element(isl_mat* matrix, int row, std::size_t column) const {
    return isl::manage(isl_mat_get_element_val(matrix, row, static_cast<int>(column))).num_si();
  }
  bool involves_division(isl_mat* matrix, int row) const {
    for (std::size_t c = iterators_.size(); c < columns_.size(); ++c)
      if (element(matrix, row, c) != 0) return true;
    return false;
  }
  /// The row is 0, or not negative: the constant stands on the right, a positive term first.
  ExprPtr comparison(isl_mat* matrix, int row, bool equality) const {
    Sum sum, negative;
    bool positive = false;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const auto value = element(matrix, row, c);
      sum.add(value, columns_[c]);
      negative.add(-value, columns_[c]);
      positive = positive || value > 0;
    }
    const auto constant = element(matrix, row, columns_.size());
    if (equality)
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
  rows.add(isl_basic_set_equalities_matrix(set.get(), isl_dim_set, isl_dim_div, isl_dim_param, isl_dim_cst), true,
           result);
  rows.add(isl_basic_set_inequalities_matrix(set.get(), isl_dim_set, isl_dim_div, isl_dim_param, isl_dim_cst), false,
           result);
  return result;
}

}  // namespace

std::vector<ExprPtr> index_expressions(const isl::multi_aff& function, const std::vector<std::string>& iterators) {
  std::vector<ExprPtr> result;
  for (int o = 0; o < outputs(function); ++o) result.push_back(expression(function.at(o), iterators));
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
