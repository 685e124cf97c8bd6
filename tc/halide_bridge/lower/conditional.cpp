#include "tc/halide_bridge/lower/conditional.h"

namespace tc::halide_bridge {

namespace ir = Halide::Internal;
using Halide::Expr;

std::optional<Conditional> as_conditional(const Expr& expr) {
  if (const auto* select = expr.as<ir::Select>())
    return Conditional{select->condition, select->true_value, select->false_value};
  const auto* call = expr.as<ir::Call>();
  if (!call || !call->is_intrinsic(ir::Call::if_then_else) || call->args.size() != 3) return std::nullopt;
  return Conditional{call->args[0], call->args[1], call->args[2]};
}

Expr if_then_else(const Expr& condition, const Expr& then_value, const Expr& else_value) {
  return ir::Call::make(then_value.type(), ir::Call::if_then_else, {condition, then_value, else_value},
                        ir::Call::PureIntrinsic);
}

}  // namespace tc::halide_bridge
