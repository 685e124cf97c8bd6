#include "tc/cpu/stmt/launder_buffers.h"

#include <set>
#include <string>

namespace tc::cpu {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

std::string laundered(const std::string& buffer) { return buffer + "'laundered"; }

/// The buffers with an address that is a sum with a part that may be negative.
class Find : public ir::IRVisitor {
 public:
  std::set<std::string> found;

 private:
  using ir::IRVisitor::visit;

  void visit(const ir::For* op) override {
    auto range = bounds(op->min), trips = bounds(op->extent);
    bool bounded = range.has_upper_bound() && trips.has_upper_bound();
    range.max = bounded ? ir::simplify(range.max + trips.max - 1) : ir::Interval::pos_inf();
    ir::ScopedBinding<ir::Interval> bind(variables_, op->name, range);
    ir::IRVisitor::visit(op);
  }
  void visit(const ir::LetStmt* op) override { visit_let(op); }
  void visit(const ir::Let* op) override { visit_let(op); }
  template <typename Op>
  void visit_let(const Op* op) {
    ir::ScopedBinding<ir::Interval> bind(op->value.type().is_int() && op->value.type().is_scalar(), variables_,
                                         op->name, bounds(op->value));
    ir::IRVisitor::visit(op);
  }
  void visit(const ir::Load* op) override {
    see(op->name, op->index);
    ir::IRVisitor::visit(op);
  }
  void visit(const ir::Store* op) override {
    see(op->name, op->index);
    ir::IRVisitor::visit(op);
  }

  void see(const std::string& buffer, const Expr& index) {
    const auto* ramp = index.as<ir::Ramp>();
    if (!ir::is_const(index) && has_negative_part(ramp ? ramp->base : index)) found.insert(buffer);
  }
  bool has_negative_part(const Expr& index) const {
    if (const auto* sum = index.as<ir::Add>()) return has_negative_part(sum->a) || has_negative_part(sum->b);
    auto least = bounds(index);
    return !least.has_lower_bound() || !ir::is_const(least.min) || ir::is_negative_const(least.min);
  }
  ir::Interval bounds(const Expr& e) const {
    auto result = ir::bounds_of_expr_in_scope(e, variables_);
    if (result.has_lower_bound()) result.min = ir::simplify(result.min);
    if (result.has_upper_bound()) result.max = ir::simplify(result.max);
    return result;
  }

  ir::Scope<ir::Interval> variables_;
};

class Launder : public ir::IRMutator {
 public:
  explicit Launder(const std::set<std::string>& buffers) : buffers_(buffers) {}

 private:
  using ir::IRMutator::visit;

  ir::Stmt visit(const ir::Allocate* op) override {
    if (op->memory_type != Halide::MemoryType::Stack || !buffers_.count(op->name)) return ir::IRMutator::visit(op);
    inside_.insert(op->name);
    ir::Stmt body = mutate(op->body);
    inside_.erase(op->name);
    Expr buffer = ir::Variable::make(Halide::Handle(), op->name);
    Expr pointer = ir::Call::make(Halide::Handle(), "tc_launder", {buffer}, ir::Call::PureExtern);
    return ir::Allocate::make(op->name, op->type, op->memory_type, op->extents, op->condition,
                              ir::LetStmt::make(laundered(op->name), pointer, body), op->new_expr, op->free_function);
  }
  ir::Stmt visit(const ir::Free* op) override { return op; }
  Expr visit(const ir::Load* op) override {
    return ir::Load::make(op->type, name(op->name), mutate(op->index), op->image, op->param, mutate(op->predicate),
                          op->alignment);
  }
  ir::Stmt visit(const ir::Store* op) override {
    return ir::Store::make(name(op->name), mutate(op->value), mutate(op->index), op->param, mutate(op->predicate),
                           op->alignment);
  }
  std::string name(const std::string& buffer) const { return inside_.count(buffer) ? laundered(buffer) : buffer; }

  const std::set<std::string>& buffers_;
  std::set<std::string> inside_;
};

}  // namespace

ir::Stmt launder_buffers(const ir::Stmt& body) {
  Find find;
  body.accept(&find);
  return find.found.empty() ? body : Launder(find.found).mutate(body);
}

}  // namespace tc::cpu
