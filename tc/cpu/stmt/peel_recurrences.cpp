#include "tc/cpu/stmt/peel_recurrences.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tc/halide_bridge/lower/conditional.h"

namespace tc::cpu {
namespace {

using Halide::Expr;
namespace ir = Halide::Internal;
using ir::Stmt;

/// Iterations that are run apart: a recurrence reads few steps back, and each is code once more.
constexpr std::int64_t most_peeled = 4;

/// The buffers that a statement stores to.
class StoredBuffers : public ir::IRVisitor {
 public:
  explicit StoredBuffers(const Stmt& body) { body.accept(this); }
  std::set<std::string> names;

 private:
  using ir::IRVisitor::visit;
  void visit(const ir::Store* op) override {
    names.insert(op->name);
    ir::IRVisitor::visit(op);
  }
};

/// The number c of the conditional `c <= loop ? ... : ...`; nothing for another value.
std::optional<std::int64_t> step_of(const Expr& value, const std::string& loop) {
  const auto choice = halide_bridge::as_conditional(value);
  const auto* least = choice ? choice->condition.as<ir::LE>() : nullptr;
  const auto* variable = least ? least->b.as<ir::Variable>() : nullptr;
  const auto* first = least ? ir::as_const_int(least->a) : nullptr;
  return variable && variable->name == loop && first ? std::optional(*first) : std::nullopt;
}

/// The numbers c of the conditions `c <= loop` in a body that guard a read of a buffer to which the body stores.
class GuardedSteps : public ir::IRVisitor {
 public:
  GuardedSteps(const Stmt& body, const std::string& loop) : stored_(StoredBuffers(body).names), loop_(loop) {
    body.accept(this);
  }
  std::set<std::int64_t> found;

 private:
  using ir::IRVisitor::visit;
  void visit(const ir::Call* op) override {
    const auto step = step_of(op, loop_);
    if (step) guards_.push_back(*step);
    ir::IRVisitor::visit(op);
    if (step) guards_.pop_back();
  }
  void visit(const ir::Load* op) override {
    if (stored_.count(op->name)) found.insert(guards_.begin(), guards_.end());
    ir::IRVisitor::visit(op);
  }
  const std::set<std::string> stored_;
  const std::string& loop_;
  std::vector<std::int64_t> guards_;
};

/// Decides the conditions `c <= loop` that hold in all iterations from \p first to \p last, or in none.
class DecideSteps : public ir::IRMutator {
 public:
  DecideSteps(const std::string& loop, std::int64_t first, std::int64_t last)
      : loop_(loop), first_(first), last_(last) {}

 private:
  using ir::IRMutator::visit;
  Expr visit(const ir::Call* op) override {
    const auto step = step_of(op, loop_);
    if (step && *step <= first_) return mutate(op->args[1]);
    if (step && *step > last_) return mutate(op->args[2]);
    return ir::IRMutator::visit(op);
  }
  const std::string& loop_;
  std::int64_t first_, last_;
};

class Peel : public ir::IRMutator {
 private:
  using ir::IRMutator::visit;
  Stmt visit(const ir::For* op) override {
    const Stmt inner = ir::IRMutator::visit(op);
    const auto* loop = inner.as<ir::For>();
    const auto *min = loop ? ir::as_const_int(loop->min) : nullptr,
               *extent = loop ? ir::as_const_int(loop->extent) : nullptr;
    if (!min || !extent || loop->for_type != ir::ForType::Serial) return inner;
    const auto steps = GuardedSteps(loop->body, loop->name).found;
    const auto cut = std::find_if(steps.rbegin(), steps.rend(), [&](std::int64_t step) {
      return *min < step && step <= *min + std::min(most_peeled, *extent - 1);
    });
    if (cut == steps.rend()) return inner;
    const auto part = [&](std::int64_t from, std::int64_t to) {
      const auto number = [&](std::int64_t value) { return ir::make_const(loop->min.type(), value); };
      const Stmt body = DecideSteps(loop->name, from, to - 1).mutate(loop->body);
      return ir::For::make(loop->name, number(from), number(to - from), loop->for_type, loop->device_api, body);
    };
    return ir::Block::make(part(*min, *cut), part(*cut, *min + *extent));
  }
};

}  // namespace

Stmt peel_recurrences(const Stmt& body) { return Peel().mutate(body); }

}  // namespace tc::cpu
