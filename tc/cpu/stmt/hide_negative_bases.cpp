#include "tc/cpu/stmt/hide_negative_bases.h"

#include <string>

namespace tc::cpu {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

const std::string origin_name = "origin'";

class Hide : public ir::IRMutator {
 public:
  bool found = false;

 private:
  using ir::IRMutator::visit;

  Expr visit(const ir::Load* op) override {
    Expr predicate = mutate(op->predicate), index = hide(mutate(op->index));
    return ir::Load::make(op->type, op->name, index, op->image, op->param, predicate, op->alignment);
  }
  ir::Stmt visit(const ir::Store* op) override {
    Expr predicate = mutate(op->predicate), value = mutate(op->value), index = hide(mutate(op->index));
    return ir::Store::make(op->name, value, index, op->param, predicate, op->alignment);
  }

  /// The lowest address a dense or strided vector touches may be its last lane.
  static bool may_be_negative(const ir::Ramp* ramp) {
    const auto *base = ir::as_const_int(ramp->base), *stride = ir::as_const_int(ramp->stride);
    return base && (*base < 0 || (stride && *base + *stride * (ramp->lanes - 1) < 0));
  }
  Expr hide(const Expr& index) {
    const auto* ramp = index.as<ir::Ramp>();
    const auto* number = ir::as_const_int(index);
    if (!(ramp && may_be_negative(ramp)) && !(number && *number < 0)) return index;
    found = true;
    Expr base = ramp ? ramp->base : index;
    Expr origin = ir::Variable::make(Halide::Int(32), origin_name);
    Expr moved = ir::Add::make(Halide::cast(base.type(), origin), base);
    return ramp ? ir::Ramp::make(moved, ramp->stride, ramp->lanes) : moved;
  }
};

}  // namespace

ir::Stmt hide_negative_bases(const ir::Stmt& body) {
  Hide hide;
  ir::Stmt result = hide.mutate(body);
  return hide.found ? ir::LetStmt::make(origin_name, 0, result) : body;
}

}  // namespace tc::cpu
