#include "tc/polyhedral/generate/ast_functions.h"

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/polyhedral/core/isl.h"

namespace tc::polyhedral {
namespace {

isl::ast_expr argument(const isl::ast_expr& expr, int i) {
  return call(expr.ctx(), isl_ast_expr_get_op_arg, expr.get(), i);
}

int arguments(const isl::ast_expr& expr) { return isl_ast_expr_get_op_n_arg(expr.get()); }

[[noreturn]] void reject(const isl::ast_expr& expr) {
  throw InternalError(str("an AST expression that is no function of iterators: ", expr.to_C_str()));
}

isl::pw_aff constant(const isl::val& value) {
  auto everywhere = isl::set(value.ctx(), "{ : }");
  return call(value.ctx(), isl_pw_aff_val_on_domain, everywhere.copy(), value.copy());
}

isl::val constant_of(const isl::ast_expr& expr) {
  if (isl_ast_expr_get_type(expr.get()) != isl_ast_expr_int) reject(expr);
  return call(expr.ctx(), isl_ast_expr_get_val, expr.get());
}

template <typename Combine>
auto fold(const isl::ast_expr& expr, const Combine& combine) {
  auto result = value_function(argument(expr, 0));
  for (int i = 1; i < arguments(expr); ++i) result = combine(result, value_function(argument(expr, i)));
  return result;
}

isl::pw_aff product(const isl::ast_expr& expr) {
  auto a = argument(expr, 0), b = argument(expr, 1);
  bool first = isl_ast_expr_get_type(a.get()) == isl_ast_expr_int;
  return value_function(first ? b : a).scale(constant_of(first ? a : b));
}

isl::pw_aff choice(const isl::ast_expr& expr) {
  auto holds = condition_set(argument(expr, 0));
  auto fails = isl::set::universe(holds.space()).subtract(holds);
  return value_function(argument(expr, 1))
      .intersect_params(holds)
      .union_add(value_function(argument(expr, 2)).intersect_params(fails));
}

isl::pw_aff operation(const isl::ast_expr& expr) {
  switch (isl_ast_expr_get_op_type(expr.get())) {
    case isl_ast_op_add:
      return fold(expr, [](const auto& a, const auto& b) { return a.add(b); });
    case isl_ast_op_sub:
      return fold(expr, [](const auto& a, const auto& b) { return a.sub(b); });
    case isl_ast_op_min:
      return fold(expr, [](const auto& a, const auto& b) { return a.min(b); });
    case isl_ast_op_max:
      return fold(expr, [](const auto& a, const auto& b) { return a.max(b); });
    case isl_ast_op_minus:
      return value_function(argument(expr, 0)).neg();
    case isl_ast_op_mul:
      return product(expr);
    case isl_ast_op_div:
    case isl_ast_op_fdiv_q:
    case isl_ast_op_pdiv_q:
      return value_function(argument(expr, 0)).scale_down(constant_of(argument(expr, 1))).floor();
    case isl_ast_op_pdiv_r:
    case isl_ast_op_zdiv_r:
      return value_function(argument(expr, 0)).mod(constant_of(argument(expr, 1)));
    case isl_ast_op_cond:
    case isl_ast_op_select:
      return choice(expr);
    default:
      reject(expr);
  }
}

template <typename Combine>
isl::set connect(const isl::ast_expr& expr, const Combine& combine) {
  auto result = condition_set(argument(expr, 0));
  for (int i = 1; i < arguments(expr); ++i) result = combine(result, condition_set(argument(expr, i)));
  return result;
}

template <typename Compare>
isl::set compare(const isl::ast_expr& expr, const Compare& compare) {
  return compare(value_function(argument(expr, 0)), value_function(argument(expr, 1)));
}

}  // namespace

isl::pw_aff value_function(const isl::ast_expr& expr) {
  switch (isl_ast_expr_get_type(expr.get())) {
    case isl_ast_expr_int:
      return constant(constant_of(expr));
    case isl_ast_expr_id: {
      auto name = call(expr.ctx(), isl_ast_expr_get_id, expr.get()).name();
      return isl::pw_aff(expr.ctx(), str("[", name, "] -> { [(", name, ")] }"));
    }
    default:
      return operation(expr);
  }
}

isl::set condition_set(const isl::ast_expr& expr) {
  if (isl_ast_expr_get_type(expr.get()) == isl_ast_expr_int)
    return isl::set(expr.ctx(), constant_of(expr).is_zero() ? "{ : false }" : "{ : }");
  if (isl_ast_expr_get_type(expr.get()) != isl_ast_expr_op) reject(expr);
  switch (isl_ast_expr_get_op_type(expr.get())) {
    case isl_ast_op_and:
    case isl_ast_op_and_then:
      return connect(expr, [](const isl::set& a, const isl::set& b) { return a.intersect(b); });
    case isl_ast_op_or:
    case isl_ast_op_or_else:
      return connect(expr, [](const isl::set& a, const isl::set& b) { return a.unite(b); });
    case isl_ast_op_eq:
      return compare(expr, [](const isl::pw_aff& a, const isl::pw_aff& b) { return a.eq_set(b); });
    case isl_ast_op_le:
      return compare(expr, [](const isl::pw_aff& a, const isl::pw_aff& b) { return a.le_set(b); });
    case isl_ast_op_lt:
      return compare(expr, [](const isl::pw_aff& a, const isl::pw_aff& b) { return a.lt_set(b); });
    case isl_ast_op_ge:
      return compare(expr, [](const isl::pw_aff& a, const isl::pw_aff& b) { return a.ge_set(b); });
    case isl_ast_op_gt:
      return compare(expr, [](const isl::pw_aff& a, const isl::pw_aff& b) { return a.gt_set(b); });
    default:
      reject(expr);
  }
}

isl::set argument_tuple(const isl::ast_expr& expr) {
  auto ctx = expr.ctx();
  auto name = call(ctx, isl_ast_expr_get_id, argument(expr, 0).get()).name();
  isl::set tuple(ctx, "{ [] }");
  for (int i = 1; i < arguments(expr); ++i) {
    auto value = call(ctx, isl_set_from_pw_aff, value_function(argument(expr, i)).release());
    tuple = call(ctx, isl_set_flat_product, tuple.release(), value.release());
  }
  return call(ctx, isl_set_set_tuple_name, tuple.release(), name.c_str());
}

isl::set iterations(const isl::ast_node_for& loop, const isl::set& around) {
  auto iterator = value_function(loop.iterator()), first = value_function(loop.init());
  if (loop.is_degenerate()) return around.intersect(iterator.eq_set(first));
  auto step = constant_of(loop.inc());
  auto whole = iterator.sub(first).mod(step).eq_set(constant(isl::val::zero(loop.ctx())));
  return around.intersect(iterator.ge_set(first)).intersect(condition_set(loop.cond())).intersect(whole);
}

}  // namespace tc::polyhedral
