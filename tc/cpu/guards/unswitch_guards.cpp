#include "tc/cpu/guards/unswitch_guards.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "tc/cpu/guards/conjunctions.h"
#include "tc/cpu/guards/varies.h"
#include "tc/halide_bridge/lower/variable_names.h"
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

bool same(const Expr& a, const Expr& b) { return a.defined() == b.defined() && (!a.defined() || ir::equal(a, b)); }

/// The conditions of whole vectors in the value of a store, without memory or names bound in the value: broadcast ones, and those
/// of conditionals between vectors.
class UniformConditions : public ir::IRVisitor {
 public:
  explicit UniformConditions(const ir::Store& store) {
    store.value.accept(this);
    std::erase_if(found, [&](const Expr& condition) {
      return std::any_of(bound_.begin(), bound_.end(),
                         [&](const auto& name) { return Varies(condition, name).result; });
    });
  }
  std::vector<Expr> found;

  bool has(const Expr& condition) const {
    return std::any_of(found.begin(), found.end(), [&](const Expr& own) { return ir::equal(own, condition); });
  }

 private:
  using ir::IRVisitor::visit;
  void visit(const ir::Broadcast* op) override {
    if (op->value.type().is_bool()) add(op->value);
  }
  void visit(const ir::Call* op) override {
    if (is_conditional(op) && op->type.is_vector()) add(op->args[0]);
    ir::IRVisitor::visit(op);
  }
  void visit(const ir::Let* op) override {
    bound_.push_back(op->name);
    ir::IRVisitor::visit(op);
  }
  void add(const Expr& condition) {
    const bool fits = condition.type().is_scalar() && !halide_bridge::variable_names({condition}).empty();
    if (fits && !Varies(condition, "").result && !has(condition)) found.push_back(condition);
  }
  std::vector<std::string> bound_;
};

/// Decides the broadcasts of one condition, conditionals on it, and what hangs on them alone: numbers are left as they are computed.
class DecideUniform : public ir::IRMutator {
 public:
  DecideUniform(const Expr& condition, bool holds) : condition_(condition), holds_(holds) {}

 private:
  using ir::IRMutator::visit;
  Expr visit(const ir::Broadcast* op) override {
    if (!ir::equal(op->value, condition_)) return ir::IRMutator::visit(op);
    return ir::Broadcast::make(holds_ ? ir::const_true() : ir::const_false(), op->lanes);
  }
  Expr visit(const ir::And* op) override {
    Expr a = mutate(op->a), b = mutate(op->b);
    if (ir::is_const_zero(a) || ir::is_const_one(b)) return a;
    if (ir::is_const_zero(b) || ir::is_const_one(a)) return b;
    return ir::And::make(a, b);
  }
  Expr visit(const ir::Or* op) override {
    Expr a = mutate(op->a), b = mutate(op->b);
    if (ir::is_const_one(a) || ir::is_const_zero(b)) return a;
    if (ir::is_const_one(b) || ir::is_const_zero(a)) return b;
    return ir::Or::make(a, b);
  }
  Expr visit(const ir::Not* op) override {
    Expr a = mutate(op->a);
    return ir::is_const(a) ? ir::make_bool(ir::is_const_zero(a), a.type().lanes()) : ir::Not::make(a);
  }
  Expr visit(const ir::Select* op) override { return chosen(op, op->condition, op->true_value, op->false_value); }
  Expr visit(const ir::Call* op) override {
    if (!is_conditional(op)) return ir::IRMutator::visit(op);
    if (ir::equal(op->args[0], condition_)) return mutate(op->args[holds_ ? 1 : 2]);
    return chosen(op, op->args[0], op->args[1], op->args[2]);
  }

  template <typename Node>
  Expr chosen(const Node* op, const Expr& condition, const Expr& where_true, const Expr& where_false) {
    const Expr decided = mutate(condition);
    if (ir::is_const_one(decided)) return mutate(where_true);
    if (ir::is_const_zero(decided)) return mutate(where_false);
    return ir::IRMutator::visit(op);
  }
  const Expr& condition_;
  bool holds_;
};

/// The conditions of whole vectors of each store of \p body; none where one has another place than a constant one, or something
/// else is there.
std::vector<UniformConditions> conditions_of_stores(const Stmt& body) {
  std::vector<Stmt> parts;
  halide_bridge::flatten(body, parts);
  std::vector<UniformConditions> result;
  for (const auto& part : parts) {
    const auto* store = part.as<ir::Store>();
    if (!store || !is_constant_place(store->index)) return {};
    result.emplace_back(*store);
  }
  return result;
}

/// Those that all stores have in common.
std::vector<Expr> shared_conditions(const Stmt& body) {
  const auto stores = conditions_of_stores(body);
  if (stores.empty()) return {};
  auto shared = stores.front().found;
  for (const auto& own : stores) std::erase_if(shared, [&](const Expr& condition) { return !own.has(condition); });
  return shared;
}

/// Those that any store has.
std::vector<Expr> all_conditions(const Stmt& body) {
  std::vector<Expr> all;
  for (const auto& own : conditions_of_stores(body))
    for (const auto& condition : own.found)
      if (std::none_of(all.begin(), all.end(), [&](const Expr& known) { return ir::equal(known, condition); }))
        all.push_back(condition);
  return all;
}

/// So many loops at most for the cases that conditions make: each is code of its own. With more every condition has its own loop.
constexpr std::size_t most_cases = 16;
/// So many conditions are decided one after the other inside a loop.
constexpr std::size_t most_inside = 3;

/// \p body beside a copy of it for the case that all its conditions hold; as it is where it has none.
Stmt where_all_hold(const Stmt& body) {
  const auto all = all_conditions(body);
  if (all.empty()) return body;
  Expr holds = all.front();
  Stmt decided = body;
  for (const auto& condition : all) {
    if (!condition.same_as(all.front())) holds = ir::And::make(holds, condition);
    decided = DecideUniform(condition, true).mutate(decided);
  }
  return ir::IfThenElse::make(holds, decided, body);
}

/// \p body under branches on conditions that all of it shares, one after the other, then on whether all others hold.
Stmt branched(const Stmt& body, std::size_t most = most_inside) {
  const auto shared = most > 0 ? shared_conditions(body) : std::vector<Expr>();
  if (shared.empty()) return where_all_hold(body);
  const auto decided = [&](bool holds) { return DecideUniform(shared.front(), holds).mutate(body); };
  return ir::IfThenElse::make(shared.front(), branched(decided(true), most - 1), decided(false));
}

class Unswitcher : public ir::IRMutator {
 private:
  using ir::IRMutator::visit;
  using Groups = std::vector<Group>;

  Stmt visit(const ir::For* op) override {
    auto groups = op->for_type == ir::ForType::Serial ? groups_of(*op) : std::nullopt;
    if (groups) return decided(*op, *groups);
    const Stmt body = op->for_type == ir::ForType::Serial ? branched(op->body) : op->body;
    return body.same_as(op->body) ? ir::IRMutator::visit(op) : loop(*op, {body});
  }

  static Stmt loop(const ir::For& op, const std::vector<Stmt>& body) {
    return ir::For::make(op.name, op.min, op.extent, op.for_type, op.device_api, ir::Block::make(body));
  }

  static Stmt decided(const ir::For& op, const Groups& groups) {
    std::vector<Expr> conditions;
    for (const auto& group : groups) conditions.push_back(group.condition);
    const Conjunctions conjunctions(conditions);
    const auto none = conjunctions.none();
    return conjunctions.cases(none, most_cases) <= most_cases ? by_cases(op, groups, conjunctions, none)
                                                              : apart(op, groups);
  }

  /// A loop for each case that \p conjunctions make of the conditions; \p decisions are those made so far.
  static Stmt by_cases(const ir::For& op, const Groups& groups, const Conjunctions& conjunctions,
                       const Conjunctions::Decisions& decisions) {
    if (const auto c = conjunctions.next(decisions)) {
      const auto next = [&](bool holds) {
        return by_cases(op, groups, conjunctions, conjunctions.with(decisions, *c, holds));
      };
      return ir::IfThenElse::make(conjunctions.comparison(*c), next(true), next(false));
    }
    std::vector<Stmt> body;
    for (std::size_t i = 0; i < groups.size(); ++i)
      for (const auto& guarded : groups[i].stores)
        body.push_back(guarded.decided(conjunctions.of_condition(i, decisions) == Conjunctions::Truth::Holds));
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
