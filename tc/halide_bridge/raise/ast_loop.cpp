#include "tc/halide_bridge/raise/ast_loop.h"

#include <algorithm>
#include <cstdlib>

#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc::halide_bridge {
namespace {

using Halide::Expr;
namespace ir = Halide::Internal;

/// The number of the last trip of \p loop that does not pass \p bound, with the best bounds known.
Bounded trips(const AstLoop& loop, const Bounded& bound) {
  Bounded last = simplified(divide(subtract(bound, loop.init), exactly(loop.increment)));
  if (const auto* number = ir::as_const_int(last.expr)) return exactly(*number);
  Expr top = ir::find_constant_bound(last.expr, ir::Direction::Upper);
  if (const auto* number = top.defined() ? ir::as_const_int(top) : nullptr) last.high = std::min(last.high, *number);
  return last;
}

}  // namespace

bool AstLoop::has_constant_trips() const { return last.is_constant() || ir::as_const_int(last.expr); }

bool AstLoop::runs_all_or_nothing() const {
  if (has_constant_trips() || last.high < 0 || last.expr.type().is_vector()) return false;
  auto multiples = ir::modulus_remainder(last.expr);
  auto modulus = std::abs(multiples.modulus);
  return modulus > last.high && (multiples.remainder - last.high) % modulus == 0;
}

AstLoop describe_loop(const isl::ast_node& n, const Environment& environment) {
  auto f = n.as<isl::ast_node_for>();
  AstLoop loop;
  loop.iterator = polyhedral::call(n.ctx(), isl_ast_expr_get_id, f.iterator().get()).name();
  loop.init = simplified(raise_integer(f.init(), environment));
  loop.body = f.body();
  if (f.is_degenerate()) {
    loop.last = exactly(0);
    return loop;
  }
  auto cond = f.cond();
  Bounded bound = raise_integer(polyhedral::call(n.ctx(), isl_ast_expr_get_op_arg, cond.get(), 1), environment);
  auto kind = isl_ast_expr_get_op_type(cond.get());
  if (kind == isl_ast_op_lt) bound = subtract(bound, exactly(1));
  if (kind != isl_ast_op_lt && kind != isl_ast_op_le)
    throw InternalError(str("an AST loop with the condition ", cond.to_C_str()));
  loop.increment = polyhedral::call(n.ctx(), isl_ast_expr_get_val, f.inc().get()).num_si();
  loop.last = trips(loop, bound);
  return loop;
}

}  // namespace tc::halide_bridge
