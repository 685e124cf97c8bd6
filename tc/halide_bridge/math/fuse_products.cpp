#include "tc/halide_bridge/math/fuse_products.h"

#include "tc/halide_bridge/stmt/strict.h"

namespace tc::halide_bridge {
namespace {

using Halide::Expr;
namespace ir = Halide::Internal;

bool is_fused_type(const Halide::Type& type) { return type.is_float() && (type.bits() == 32 || type.bits() == 64); }

Expr negative(const Expr& x) { return ir::Mul::make(x, ir::make_const(x.type(), -1)); }

Expr fused(const Expr& a, const Expr& b, const Expr& sum) {
  const auto* name = sum.type().bits() == 64 ? "tc_fma_f64" : "tc_fma_f32";
  return ir::Call::make(sum.type(), name, {a, b, sum}, ir::Call::PureExtern);
}

class Fuser : public ir::IRMutator {
 private:
  using ir::IRMutator::visit;

  Expr visit(const ir::Add* op) override {
    if (!is_fused_type(op->type)) return ir::IRMutator::visit(op);
    const Expr a = mutate(op->a), b = mutate(op->b);
    const Expr first = without_strict(a), second = without_strict(b);
    if (const auto* product = second.as<ir::Mul>()) return fused(product->a, product->b, a);
    if (const auto* product = first.as<ir::Mul>()) return fused(product->a, product->b, b);
    return ir::Add::make(a, b);
  }
  Expr visit(const ir::Sub* op) override {
    if (!is_fused_type(op->type)) return ir::IRMutator::visit(op);
    const Expr a = mutate(op->a), b = mutate(op->b);
    const Expr first = without_strict(a), second = without_strict(b);
    if (const auto* product = second.as<ir::Mul>()) return fused(negative(product->a), product->b, a);
    if (const auto* product = first.as<ir::Mul>()) return fused(product->a, product->b, negative(b));
    return ir::Sub::make(a, b);
  }
};

}  // namespace

ir::Stmt fuse_products(const ir::Stmt& body) { return Fuser().mutate(body); }

}  // namespace tc::halide_bridge
