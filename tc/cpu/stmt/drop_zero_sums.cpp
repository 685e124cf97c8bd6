#include "tc/cpu/stmt/drop_zero_sums.h"

#include "tc/cpu/stmt/sums.h"

namespace tc::cpu {
namespace {

namespace ir = Halide::Internal;
using ir::Stmt;

Stmt nothing() { return ir::Evaluate::make(0); }

class ZeroSumDropper : public ir::IRMutator {
 protected:
  using ir::IRMutator::visit;
  Stmt visit(const ir::Store* op) override {
    const auto term = added_to(*op);
    return term.defined() && ir::is_const_zero(term) ? nothing() : op;
  }
  Stmt visit(const ir::Block* op) override {
    const Stmt first = mutate(op->first), rest = mutate(op->rest);
    if (first.same_as(op->first) && rest.same_as(op->rest)) return op;
    if (ir::is_no_op(first)) return rest;
    return ir::is_no_op(rest) ? first : ir::Block::make(first, rest);
  }
  Stmt visit(const ir::For* op) override {
    const Stmt body = mutate(op->body);
    if (body.same_as(op->body)) return op;
    if (ir::is_no_op(body)) return nothing();
    return ir::For::make(op->name, op->min, op->extent, op->for_type, op->device_api, body);
  }
  Stmt visit(const ir::IfThenElse* op) override {
    const Stmt holds = mutate(op->then_case), fails = op->else_case.defined() ? mutate(op->else_case) : Stmt();
    if (holds.same_as(op->then_case) && fails.same_as(op->else_case)) return op;
    const bool else_nothing = !fails.defined() || ir::is_no_op(fails);
    if (ir::is_no_op(holds))
      return else_nothing ? nothing() : ir::IfThenElse::make(ir::Not::make(op->condition), fails);
    return ir::IfThenElse::make(op->condition, holds, else_nothing ? Stmt() : fails);
  }
};

}  // namespace

Stmt drop_zero_sums(const Stmt& body) { return ZeroSumDropper().mutate(body); }

}  // namespace tc::cpu
