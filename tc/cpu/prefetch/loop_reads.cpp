#include "tc/cpu/prefetch/loop_reads.h"

#include <cstdlib>

#include "tc/base/target.h"
#include "tc/halide_bridge/stmt/function_call.h"

namespace tc::cpu {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using ir::Stmt;

class Reads : public ir::IRVisitor {
 public:
  std::vector<Read> found;

 private:
  using ir::IRVisitor::visit;

  void visit(const ir::Load* op) override {
    const auto* ramp = op->index.as<ir::Ramp>();
    bool dense = ramp && ir::is_const_one(ramp->stride) && ramp->base.type().is_scalar();
    if (dense) add({op->name, ramp->base, op->type.element_of(), ramp->lanes});
    if (op->index.type().is_scalar()) add({op->name, op->index, op->type, 1});
    ir::IRVisitor::visit(op);
  }
  void visit(const ir::LetStmt* op) override {
    bound_inside_.push(op->name);
    ir::IRVisitor::visit(op);
  }

  void add(const Read& read) {
    if (!ir::expr_uses_vars(read.start, bound_inside_)) found.push_back(read);
  }

  ir::Scope<> bound_inside_;
};

class Insert : public ir::IRMutator {
 public:
  explicit Insert(const Additions& additions) : additions_(additions) {}

 private:
  using ir::IRMutator::visit;

  Stmt visit(const ir::For* op) override {
    auto found = additions_.find(op);
    Stmt body = mutate(op->body);
    if (found != additions_.end()) {
      auto parts = found->second;
      parts.push_back(body);
      body = ir::Block::make(parts);
    }
    return ir::For::make(op->name, op->min, op->extent, op->for_type, op->device_api, body);
  }

  const Additions& additions_;
};

}  // namespace

std::vector<Read> reads_of(const Stmt& body) {
  Reads reads;
  ir::substitute_in_all_lets(body).accept(&reads);
  return reads.found;
}

bool are_near(const Read& a, const Read& b) {
  if (a.buffer != b.buffer) return false;
  auto apart = distance(b.start, a.start);
  return apart && std::abs(*apart) * a.type.bytes() < Target::cache_line;
}

bool has_load(const Expr& expr) {
  struct Finder : ir::IRVisitor {
    using ir::IRVisitor::visit;
    bool found = false;
    void visit(const ir::Load*) override { found = true; }
  } finder;
  expr.accept(&finder);
  return finder.found;
}

std::optional<std::int64_t> distance(const Expr& from, const Expr& to) {
  Expr apart = ir::simplify(to - from);
  const auto* number = ir::as_const_int(apart);
  return number ? std::optional(*number) : std::nullopt;
}

std::int64_t most_trips(const Expr& extent) {
  Expr most = ir::find_constant_bound(extent, ir::Direction::Upper);
  const auto* number = most.defined() ? ir::as_const_int(most) : nullptr;
  return number ? *number : 0;
}

bool has_loops(const Stmt& body) {
  struct Finder : ir::IRVisitor {
    using ir::IRVisitor::visit;
    bool found = false;
    void visit(const ir::For*) override { found = true; }
  } finder;
  body.accept(&finder);
  return finder.found;
}

std::optional<std::int64_t> step_of(const Expr& start, const std::string& loop) {
  if (!ir::expr_uses_var(start, loop)) return 0;
  Expr next = ir::substitute(loop, ir::Variable::make(Halide::Int(32), loop) + 1, start);
  return distance(start, next);
}

Expr moved(const Expr& start, std::int64_t elements) {
  bool narrow = elements == static_cast<std::int32_t>(elements);
  Expr from = narrow ? start : Halide::cast<std::int64_t>(start);
  return ir::simplify(from + ir::make_const(from.type(), elements));
}

Stmt prefetch_of(const std::string& buffer, const Expr& index, const Halide::Type& type, Cache into) {
  Expr base = ir::Variable::make(Halide::Handle(), buffer);
  Expr offset = Halide::cast<std::int64_t>(index) * type.bytes();
  return halide_bridge::function_call(into == Cache::First ? "tc_prefetch" : "tc_prefetch_l2", {base, offset});
}

Stmt insert(const Additions& additions, const Stmt& body) {
  return additions.empty() ? body : Insert(additions).mutate(body);
}

}  // namespace tc::cpu
