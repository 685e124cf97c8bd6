#include "tc/cpu/stmt/unswitch_guards.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "tc/halide_bridge/stmt/flatten.h"

namespace tc::cpu {
namespace {

using Halide::Expr;
namespace ir = Halide::Internal;
using ir::Stmt;

bool is_conditional(const ir::Call* call) {
  return call->is_intrinsic(ir::Call::if_then_else) && call->args.size() == 3;
}

bool is_constant_place(const Expr& index) {
  const auto* ramp = index.as<ir::Ramp>();
  return ir::is_const(ramp ? ramp->base : index) && (!ramp || ir::is_const(ramp->stride));
}

/// Does \p expr depend on the variable \p name or on memory?
class Varies : public ir::IRVisitor {
 public:
  Varies(const Expr& expr, const std::string& name) : name_(name) { expr.accept(this); }
  bool result = false;

 private:
  using ir::IRVisitor::visit;
  void visit(const ir::Variable* op) override { result = result || op->name == name_; }
  void visit(const ir::Load*) override { result = true; }
  const std::string& name_;
};

/// What the value of one store in a loop over `loop` needs: the outermost condition that the loop does not change, and
/// whether the value reads \p buffer elsewhere than at \p place, or binds names.
class Survey : public ir::IRVisitor {
 public:
  Survey(const ir::Store& store, const std::string& loop) : store_(store), loop_(loop) { store.value.accept(this); }
  Expr condition;
  bool independent = true;

 private:
  using ir::IRVisitor::visit;
  void visit(const ir::Load* op) override {
    if (op->name == store_.name && !ir::equal(op->index, store_.index)) independent = false;
    ir::IRVisitor::visit(op);
  }
  void visit(const ir::Let*) override { independent = false; }
  void visit(const ir::Call* op) override {
    bool fits = is_conditional(op) && op->args[0].type().is_scalar() && !Varies(op->args[0], loop_).result;
    if (fits && !condition.defined()) condition = op->args[0];
    ir::IRVisitor::visit(op);
  }
  const ir::Store& store_;
  const std::string& loop_;
};

/// Decides the conditionals on one condition.
class Decide : public ir::IRMutator {
 public:
  Decide(const Expr& condition, bool holds) : condition_(condition), holds_(holds) {}

 private:
  using ir::IRMutator::visit;
  Expr visit(const ir::Call* op) override {
    if (is_conditional(op) && ir::equal(op->args[0], condition_)) return mutate(op->args[holds_ ? 1 : 2]);
    return ir::IRMutator::visit(op);
  }
  const Expr& condition_;
  bool holds_;
};

/// A store and the condition in its value, undefined for none.
struct Guarded {
  Stmt store;
  Expr condition;

  Stmt decided(bool holds) const { return condition.defined() ? Decide(condition, holds).mutate(store) : store; }
};

/// Stores with one condition.
struct Group {
  Expr condition;
  std::vector<Guarded> stores;
};

/// Up to so many conditions every combination gets a loop of its own, with more every condition its own loop.
constexpr std::size_t most_combined = 3;

bool same(const Expr& a, const Expr& b) { return a.defined() == b.defined() && (!a.defined() || ir::equal(a, b)); }

class Unswitcher : public ir::IRMutator {
 private:
  using ir::IRMutator::visit;
  using Groups = std::vector<Group>;

  Stmt visit(const ir::For* op) override {
    auto groups = op->for_type == ir::ForType::Serial ? groups_of(*op) : std::nullopt;
    if (groups) return groups->size() <= most_combined ? combined(*op, *groups, {}) : apart(*op, *groups);
    return ir::IRMutator::visit(op);
  }

  static Stmt loop(const ir::For& op, const std::vector<Stmt>& body) {
    return ir::For::make(op.name, op.min, op.extent, op.for_type, op.device_api, ir::Block::make(body));
  }

  /// A loop for each combination of conditions; \p decisions are those made so far.
  static Stmt combined(const ir::For& op, const Groups& groups, std::vector<bool> decisions) {
    if (decisions.size() < groups.size()) {
      const auto& condition = groups[decisions.size()].condition;
      auto next = [&](bool holds) {
        auto with = decisions;
        with.push_back(holds);
        return combined(op, groups, with);
      };
      return condition.defined() ? ir::IfThenElse::make(condition, next(true), next(false)) : next(true);
    }
    std::vector<Stmt> body;
    for (std::size_t i = 0; i < groups.size(); ++i)
      for (const auto& guarded : groups[i].stores) body.push_back(guarded.decided(decisions[i]));
    return loop(op, body);
  }

  /// One loop where all conditions hold, else one for each.
  static Stmt apart(const ir::For& op, const Groups& groups) {
    Expr all = ir::const_true();
    std::vector<Stmt> together, alone;
    for (const auto& group : groups) {
      std::vector<Stmt> holds, fails;
      for (const auto& guarded : group.stores) {
        holds.push_back(guarded.decided(true));
        fails.push_back(guarded.decided(false));
      }
      together.insert(together.end(), holds.begin(), holds.end());
      if (group.condition.defined()) all = ir::And::make(all, group.condition);
      alone.push_back(group.condition.defined()
                          ? ir::IfThenElse::make(group.condition, loop(op, holds), loop(op, fails))
                          : loop(op, holds));
    }
    return ir::IfThenElse::make(all, loop(op, together), ir::Block::make(alone));
  }

  /// The stores of \p loop by their conditions; nothing where they may not run apart or no condition is there.
  static std::optional<Groups> groups_of(const ir::For& loop) {
    std::vector<Stmt> parts;
    halide_bridge::flatten(loop.body, parts);
    Groups groups;
    std::set<std::string> buffers;
    std::vector<Expr> places;
    bool guarded = false;
    for (const auto& part : parts) {
      const auto* store = part.as<ir::Store>();
      if (!store || !is_constant_place(store->index) || !ir::is_const_one(store->predicate)) return std::nullopt;
      for (const auto& place : places)
        if (ir::equal(place, store->index)) return std::nullopt;
      places.push_back(store->index);
      buffers.insert(store->name);
      Survey survey(*store, loop.name);
      if (!survey.independent || buffers.size() > 1) return std::nullopt;
      guarded = guarded || survey.condition.defined();
      add({part, survey.condition}, groups);
    }
    return guarded ? std::optional(groups) : std::nullopt;
  }

  static void add(const Guarded& guarded, Groups& groups) {
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const Group& g) { return same(g.condition, guarded.condition); });
    if (group == groups.end()) group = groups.insert(group, {guarded.condition, {}});
    group->stores.push_back(guarded);
  }
};

}  // namespace

Stmt unswitch_guards(const Stmt& stmt) { return Unswitcher().mutate(stmt); }

}  // namespace tc::cpu
