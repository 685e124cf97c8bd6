#include "tc/cpu/stmt/carry_values.h"

#include <string>

namespace tc::cpu {
namespace {

using Halide::Expr;
namespace ir = Halide::Internal;
using ir::Stmt;

/// The load in \p store's value of the element that the iteration before stored, in a loop over \p loop; null: there is none.
class CarriedLoad : public ir::IRVisitor {
 public:
  CarriedLoad(const ir::Store& store, const ir::For& loop)
      : store_(store),
        before_(
            ir::simplify(ir::substitute(loop.name, ir::Variable::make(loop.min.type(), loop.name) - 1, store.index))) {
    store.value.accept(this);
  }
  const ir::Load* found = nullptr;

 private:
  using ir::IRVisitor::visit;
  void visit(const ir::Call* op) override {
    op->is_intrinsic(ir::Call::if_then_else) ? op->args[0].accept(this) : ir::IRVisitor::visit(op);
  }
  void visit(const ir::Load* op) override {
    const bool is_whole = ir::is_const_one(op->predicate) && op->type == store_.value.type();
    if (op->name == store_.name && is_whole && ir::equal(ir::simplify(op->index), before_)) found = op;
    ir::IRVisitor::visit(op);
  }
  const ir::Store& store_;
  const Expr before_;
};

/// Puts a value in the place of loads like one.
class ReplaceLoad : public ir::IRMutator {
 public:
  ReplaceLoad(const ir::Load& load, const Expr& value) : load_(load), value_(value) {}

 private:
  using ir::IRMutator::visit;
  Expr visit(const ir::Load* op) override {
    return op->name == load_.name && ir::equal(op->index, load_.index) ? value_ : ir::IRMutator::visit(op);
  }
  const ir::Load& load_;
  const Expr& value_;
};

class Carry : public ir::IRMutator {
 private:
  using ir::IRMutator::visit;
  Stmt visit(const ir::For* op) override {
    const Stmt inner = ir::IRMutator::visit(op);
    const auto* loop = inner.as<ir::For>();
    const auto* extent = loop && ir::as_const_int(loop->min) ? ir::as_const_int(loop->extent) : nullptr;
    return extent && *extent > 0 && loop->for_type == ir::ForType::Serial ? carried(*loop) : inner;
  }

  /// \p loop, where its body is one store, with the value that it stored before in a register.
  Stmt carried(const ir::For& loop) {
    const auto* store = loop.body.as<ir::Store>();
    if (!store || !ir::is_const_one(store->predicate) || !ir::expr_uses_var(store->index, loop.name)) return &loop;
    const auto* load = CarriedLoad(*store, loop).found;
    if (!load) return &loop;
    const std::string name = ir::unique_name("carried"), made = ir::unique_name("made");
    const auto type = load->type;
    const Expr place = type.is_scalar() ? Expr(0) : ir::Ramp::make(0, 1, type.lanes());
    const Expr always = ir::const_true(type.lanes());
    const Expr kept = ir::Load::make(type, name, place, {}, {}, always, {});
    const auto keep = [&](const Expr& value) { return ir::Store::make(name, value, place, {}, always, {}); };
    const Expr value = ir::Variable::make(type, made);
    const Stmt stores = ir::Block::make(
        ir::Store::make(store->name, value, store->index, store->param, store->predicate, store->alignment),
        keep(value));
    const Stmt body = ir::LetStmt::make(made, ReplaceLoad(*load, kept).mutate(store->value), stores);
    const Expr first = ir::Load::make(type, load->name, ir::simplify(ir::substitute(loop.name, loop.min, load->index)),
                                      load->image, load->param, load->predicate, load->alignment);
    const Stmt run = ir::Block::make(
        keep(first), ir::For::make(loop.name, loop.min, loop.extent, loop.for_type, loop.device_api, body));
    return ir::Allocate::make(name, type.element_of(), Halide::MemoryType::Stack, {Expr(type.lanes())},
                              ir::const_true(), run);
  }
};

}  // namespace

Stmt carry_values(const Stmt& body) { return Carry().mutate(body); }

}  // namespace tc::cpu
