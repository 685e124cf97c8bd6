#include "tc/halide_bridge/math/expand_functions.h"

#include "tc/halide_bridge/math/float_ops.h"
#include "tc/halide_bridge/math/vector_math.h"
#include "tc/halide_bridge/stmt/convert.h"

namespace tc::halide_bridge {
namespace {

using Halide::Expr;
namespace ir = Halide::Internal;

class Expander : public ir::IRMutator {
 protected:
  using ir::IRMutator::visit;

  Expr visit(const ir::Call* op) override {
    if (op->is_intrinsic(ir::Call::abs) && op->type.is_float()) return without_sign(mutate(op->args[0]));
    if (op->call_type != ir::Call::PureExtern) return ir::IRMutator::visit(op);
    std::vector<Expr> args;
    for (const Expr& arg : op->args) args.push_back(mutate(arg));
    if (auto expanded = expand_bfloat(op->name, args)) return *expanded;
    if (auto expanded = expand_builtin(op->name, args)) return *expanded;
    if (auto expanded = expand_math(op->name, args)) return *expanded;
    return ir::Call::make(op->type, op->name, args, op->call_type);
  }

  Expr visit(const ir::Div* op) override {
    Expr a = mutate(op->a), b = mutate(op->b);
    if (!op->type.is_float() || !b.as<ir::Broadcast>()) return ir::Div::make(a, b);
    return ir::Call::make(op->type, op->type.bits() == 32 ? "tc_quotient_f32" : "tc_quotient_f64", {a, b},
                          ir::Call::PureExtern);
  }
};

}  // namespace

ir::Stmt expand_functions(const ir::Stmt& body) { return Expander().mutate(body); }

}  // namespace tc::halide_bridge
