#include "tc/derive/form/isl_text.h"

#include <algorithm>
#include <optional>

#include "tc/base/str.h"
#include "tc/derive/form/refusal.h"
#include "tc/lang/syntax/operators.h"

namespace tc::derive {

using lang::BinaryOp;
using lang::ExprPtr;

std::vector<std::string> dimension_names(int count, int first) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(str("i", first + i));
  return names;
}

std::vector<int> run_of(int first, int count) {
  std::vector<int> result;
  for (int d = 0; d < count; ++d) result.push_back(first + d);
  return result;
}

std::string tuple_text(int count) { return str("[", join(dimension_names(count)), "]"); }

isl::set box_set(isl::ctx ctx, const lang::Box& box) {
  const auto count = static_cast<unsigned>(box.size());
  auto* result = isl_set_universe(isl_space_set_alloc(ctx.get(), 0, count));
  for (unsigned d = 0; d < count; ++d) {
    const auto least = isl::val(ctx, box[d].min), most = isl::val(ctx, box[d].min + box[d].extent - 1);
    result = isl_set_lower_bound_val(result, isl_dim_set, d, least.copy());
    result = isl_set_upper_bound_val(result, isl_dim_set, d, most.copy());
  }
  return isl::manage(result);
}

isl::multi_aff function(isl::ctx ctx, int dimensions, const std::vector<std::string>& values) {
  std::vector<std::string> all;
  for (const auto& value : values) all.push_back(str("(", value, ")"));
  return isl::multi_aff(ctx, str("{ ", tuple_text(dimensions), " -> [", join(all), "] }"));
}

namespace {

isl::aff number_on(const isl::space& space, std::int64_t value) {
  return polyhedral::call(space.ctx(), isl_aff_val_on_domain, isl_local_space_from_space(space.copy()),
                          isl::val(space.ctx(), value).release());
}

isl::aff dimension_of(const isl::space& space, int dimension) {
  return polyhedral::call(space.ctx(), isl_aff_var_on_domain, isl_local_space_from_space(space.copy()), isl_dim_set,
                          static_cast<unsigned>(dimension));
}

isl::space instances(isl::ctx ctx, std::size_t dimensions) {
  return isl::manage(isl_space_set_alloc(ctx.get(), 0, static_cast<unsigned>(dimensions)));
}

isl::multi_aff function_of(const isl::space& space, const std::vector<isl::aff>& values) {
  auto* list = isl_aff_list_alloc(space.ctx().get(), static_cast<int>(values.size()));
  for (const auto& value : values) list = isl_aff_list_add(list, value.copy());
  auto* whole =
      isl_space_add_dims(isl_space_from_domain(space.copy()), isl_dim_out, static_cast<unsigned>(values.size()));
  return polyhedral::call(space.ctx(), isl_multi_aff_from_aff_list, whole, list);
}

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

/// Index expressions over iterators as isl's functions.
class Indices {
 public:
  Indices(isl::ctx ctx, const std::vector<std::string>& iterators)
      : space_(instances(ctx, iterators.size())), iterators_(iterators) {}

  const isl::space& space() const { return space_; }

  isl::aff value(const ExprPtr& expr) const {
    if (const auto number = constant(expr)) return number_on(space_, *number);
    if (const auto* cast = std::get_if<lang::Cast>(&expr->node)) return value(cast->value);
    if (const auto* name = std::get_if<lang::Name>(&expr->node)) return iterator(name->id);
    if (const auto* unary = std::get_if<lang::Unary>(&expr->node); unary && unary->op == lang::UnaryOp::Negate)
      return value(unary->value).neg();
    if (const auto* binary = std::get_if<lang::Binary>(&expr->node)) return operation(*binary);
    throw Refusal{"a subscript is not made of iterators and numbers"};
  }

  isl::set compare(const lang::Binary& comparison) const {
    const auto a = value(comparison.left), b = value(comparison.right);
    switch (comparison.op) {
      case BinaryOp::Lt:
        return a.lt_set(b);
      case BinaryOp::Le:
        return a.le_set(b);
      case BinaryOp::Gt:
        return a.gt_set(b);
      case BinaryOp::Ge:
        return a.ge_set(b);
      case BinaryOp::Eq:
        return a.eq_set(b);
      default:
        return a.ne_set(b);
    }
  }

 private:
  isl::aff iterator(const std::string& name) const {
    const auto found = std::find(iterators_.begin(), iterators_.end(), name);
    if (found == iterators_.end()) throw Refusal{str("'", name, "' is no iterator")};
    return dimension_of(space_, static_cast<int>(found - iterators_.begin()));
  }

  isl::aff operation(const lang::Binary& binary) const {
    const auto left = value(binary.left), right = value(binary.right);
    const auto by = constant(binary.right);
    switch (binary.op) {
      case BinaryOp::Add:
        return left.add(right);
      case BinaryOp::Sub:
        return left.sub(right);
      case BinaryOp::Mul:
        if (by || constant(binary.left)) return left.mul(right);
        break;
      case BinaryOp::Div:
        if (by && *by > 0) return left.div(right).floor();
        break;
      case BinaryOp::Mod:
        if (by && *by > 0) return left.mod(isl::val(space_.ctx(), *by));
        break;
      default:
        break;
    }
    throw Refusal{"a subscript is not a sum of iterators times numbers, and quotients of these"};
  }

  isl::space space_;
  const std::vector<std::string>& iterators_;
};

}  // namespace

isl::multi_aff projection(isl::ctx ctx, int dimensions, const std::vector<int>& kept) {
  const auto space = instances(ctx, static_cast<std::size_t>(dimensions));
  std::vector<isl::aff> values;
  for (int d : kept) values.push_back(dimension_of(space, d));
  return function_of(space, values);
}

isl::multi_aff index_function(isl::ctx ctx, const std::vector<ExprPtr>& values,
                              const std::vector<std::string>& iterators) {
  const Indices indices(ctx, iterators);
  std::vector<isl::aff> all;
  for (const auto& value : values) all.push_back(indices.value(value));
  return function_of(indices.space(), all);
}

isl::set condition_set(isl::ctx ctx, const ExprPtr& expr, const std::vector<std::string>& iterators) {
  if (const auto* literal = std::get_if<lang::BoolLiteral>(&expr->node)) {
    const auto all = isl::set::universe(instances(ctx, iterators.size()));
    return literal->value ? all : isl::set::empty(all.space());
  }
  if (const auto* unary = std::get_if<lang::Unary>(&expr->node); unary && unary->op == lang::UnaryOp::Not)
    return condition_set(ctx, unary->value, iterators).complement();
  const auto* binary = std::get_if<lang::Binary>(&expr->node);
  if (!binary) throw Refusal{"a condition is not one on indices"};
  if (binary->op == BinaryOp::And)
    return condition_set(ctx, binary->left, iterators).intersect(condition_set(ctx, binary->right, iterators));
  if (binary->op == BinaryOp::Or)
    return condition_set(ctx, binary->left, iterators).unite(condition_set(ctx, binary->right, iterators));
  if (!lang::is_comparison(binary->op)) throw Refusal{"a condition is no comparison of indices"};
  return Indices(ctx, iterators).compare(*binary);
}

}  // namespace tc::derive
