#include "tc/halide_bridge/raise/raise_expr.h"

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/polyhedral/core/isl.h"

namespace tc::halide_bridge {
namespace {

using Halide::Expr;
namespace ir = Halide::Internal;

isl::ast_expr argument(const isl::ast_expr& expr, int i) {
  return polyhedral::call(expr.ctx(), isl_ast_expr_get_op_arg, expr.get(), i);
}

[[noreturn]] void reject(const isl::ast_expr& expr) {
  throw InternalError(str("an AST expression of an unknown kind: ", expr.to_C_str()));
}

template <typename Fold>
Bounded fold(const isl::ast_expr& expr, const Environment& environment, Fold operation) {
  Bounded result = raise_integer(argument(expr, 0), environment);
  for (int i = 1; i < isl_ast_expr_get_op_n_arg(expr.get()); ++i)
    result = operation(result, raise_integer(argument(expr, i), environment));
  return result;
}

Bounded raise_operation(const isl::ast_expr& expr, const Environment& environment) {
  switch (isl_ast_expr_get_op_type(expr.get())) {
    case isl_ast_op_add:
      return fold(expr, environment, add);
    case isl_ast_op_sub:
      return fold(expr, environment, subtract);
    case isl_ast_op_mul:
      return fold(expr, environment, multiply);
    case isl_ast_op_minus:
      return subtract(exactly(0), raise_integer(argument(expr, 0), environment));
    case isl_ast_op_div:
    case isl_ast_op_fdiv_q:
    case isl_ast_op_pdiv_q:
      return fold(expr, environment, divide);
    case isl_ast_op_pdiv_r:
    case isl_ast_op_zdiv_r:
      return fold(expr, environment, modulo);
    case isl_ast_op_min:
      return fold(expr, environment, minimum);
    case isl_ast_op_max:
      return fold(expr, environment, maximum);
    case isl_ast_op_cond:
    case isl_ast_op_select:
      return choose(raise_condition(argument(expr, 0), environment), raise_integer(argument(expr, 1), environment),
                    raise_integer(argument(expr, 2), environment));
    default:
      reject(expr);
  }
}

template <typename Node>
Expr compare(const isl::ast_expr& expr, const Environment& environment) {
  Bounded a = raise_integer(argument(expr, 0), environment), b = raise_integer(argument(expr, 1), environment);
  match(a, b);
  return Node::make(a.expr, b.expr);
}

template <typename Node>
Expr connect(const isl::ast_expr& expr, const Environment& environment) {
  Expr result = raise_condition(argument(expr, 0), environment);
  for (int i = 1; i < isl_ast_expr_get_op_n_arg(expr.get()); ++i) {
    Expr next = raise_condition(argument(expr, i), environment);
    match_lanes(result, next);
    result = Node::make(result, next);
  }
  return result;
}

}  // namespace

Bounded raise_integer(const isl::ast_expr& expr, const Environment& environment) {
  switch (isl_ast_expr_get_type(expr.get())) {
    case isl_ast_expr_int:
      return exactly(polyhedral::call(expr.ctx(), isl_ast_expr_get_val, expr.get()).num_si());
    case isl_ast_expr_id: {
      auto name = polyhedral::call(expr.ctx(), isl_ast_expr_get_id, expr.get()).name();
      auto found = environment.find(name);
      if (found == environment.end()) throw InternalError(str("AST iterator '", name, "' stands outside its loop"));
      return found->second;
    }
    default:
      return raise_operation(expr, environment);
  }
}

Expr raise_condition(const isl::ast_expr& expr, const Environment& environment) {
  if (isl_ast_expr_get_type(expr.get()) == isl_ast_expr_int)
    return ir::make_const(Halide::Bool(), isl::manage(isl_ast_expr_get_val(expr.get())).num_si() != 0);
  if (isl_ast_expr_get_type(expr.get()) != isl_ast_expr_op) reject(expr);
  switch (isl_ast_expr_get_op_type(expr.get())) {
    case isl_ast_op_and:
    case isl_ast_op_and_then:
      return connect<ir::And>(expr, environment);
    case isl_ast_op_or:
    case isl_ast_op_or_else:
      return connect<ir::Or>(expr, environment);
    case isl_ast_op_eq:
      return compare<ir::EQ>(expr, environment);
    case isl_ast_op_le:
      return compare<ir::LE>(expr, environment);
    case isl_ast_op_lt:
      return compare<ir::LT>(expr, environment);
    case isl_ast_op_ge:
      return compare<ir::GE>(expr, environment);
    case isl_ast_op_gt:
      return compare<ir::GT>(expr, environment);
    default:
      reject(expr);
  }
}

}  // namespace tc::halide_bridge
