#include "tc/halide_bridge/stmt/unclamp_loads.h"

#include "tc/halide_bridge/lower/conditional.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

/// Shorter vectors are loaded one by one.
constexpr int least_lanes = 4;

/// The first and the last lane of \p vector, a rising one.
struct Ends {
  Expr first, last;
};
Ends ends_of(const Expr& vector) {
  const auto* ramp = vector.as<ir::Ramp>();
  const auto* step = ramp ? ir::as_const_int(ramp->stride) : nullptr;
  if (!step || *step < 1 || !ramp->base.type().is_scalar()) return {};
  return {ramp->base, ramp->base + ir::make_const(ramp->base.type(), *step * (ramp->lanes - 1))};
}

Expr number_of(const Expr& vector) {
  const auto* same = vector.as<ir::Broadcast>();
  return same && same->value.type().is_scalar() ? same->value : Expr();
}

/// Whether \p condition, a comparison of a rising vector with a number, may hold in a lane; undefined for another one.
Expr may_hold(const Expr& condition) {
  if (const auto* pair = condition.as<ir::EQ>()) {
    const bool swapped = number_of(pair->a).defined();
    const Ends ends = ends_of(swapped ? pair->b : pair->a);
    const Expr number = number_of(swapped ? pair->a : pair->b);
    return ends.first.defined() && number.defined() ? ends.first <= number && number <= ends.last : Expr();
  }
  const auto ordered = [](const auto* pair, auto compare) {
    const Ends left = ends_of(pair->a), right = ends_of(pair->b);
    const Expr low = left.first.defined() ? left.first : number_of(pair->a);
    const Expr high = right.last.defined() ? right.last : number_of(pair->b);
    return low.defined() && high.defined() ? compare(low, high) : Expr();
  };
  if (const auto* pair = condition.as<ir::LT>())
    return ordered(pair, [](const Expr& a, const Expr& b) { return a < b; });
  if (const auto* pair = condition.as<ir::LE>())
    return ordered(pair, [](const Expr& a, const Expr& b) { return a <= b; });
  return {};
}

/// Whether \p condition may not hold in a lane.
Expr may_fail(const Expr& condition) {
  if (const auto* negated = condition.as<ir::Not>()) return may_hold(negated->a);
  if (const auto* pair = condition.as<ir::NE>()) return may_hold(ir::EQ::make(pair->a, pair->b));
  if (const auto* pair = condition.as<ir::LT>()) return may_hold(ir::LE::make(pair->b, pair->a));
  if (const auto* pair = condition.as<ir::LE>()) return may_hold(ir::LT::make(pair->b, pair->a));
  return {};
}

/// Makes an index what it is where no lane is clamped, and gathers when one may be.
class Unclamp : public ir::IRMutator {
 public:
  Expr clamped;  ///< undefined if nothing was changed

 private:
  using ir::IRMutator::visit;

  Expr visit(const ir::Select* op) override {
    const bool takes_first = number_of(op->false_value).defined();
    return taken(op, takes_first ? may_fail(op->condition) : may_hold(op->condition),
                 mutate(takes_first ? op->true_value : op->false_value));
  }
  Expr visit(const ir::Min* op) override {
    return extreme(op, [](const Expr& vector, const Expr& number) { return ir::LT::make(number, vector); });
  }
  Expr visit(const ir::Max* op) override {
    return extreme(op, [](const Expr& vector, const Expr& number) { return ir::LT::make(vector, number); });
  }

  /// The vector of the two arguments of \p op, which it is unless \p is_number of it and the other one.
  template <typename Op, typename F>
  Expr extreme(const Op* op, F&& is_number) {
    const bool swapped = number_of(op->a).defined();
    const Expr vector = mutate(swapped ? op->b : op->a), number = swapped ? op->a : op->b;
    return number_of(number).defined() ? taken(op, may_hold(is_number(vector, number)), vector) : Expr(op);
  }

  /// \p usual in the place of \p op, which it is unless \p other.
  Expr taken(const Expr& op, const Expr& other, const Expr& usual) {
    if (!other.defined()) return op;
    clamped = clamped.defined() ? clamped || other : other;
    return usual;
  }
};

class UnclampLoads : public ir::IRMutator {
  using ir::IRMutator::visit;
  Expr visit(const ir::Load* op) override {
    const Expr same = ir::IRMutator::visit(op);
    if (op->type.lanes() < least_lanes || !op->index.type().is_int()) return same;
    Unclamp unclamp;
    const Expr index = ir::simplify(unclamp.mutate(op->index));
    const auto* ramp = index.as<ir::Ramp>();
    if (!unclamp.clamped.defined() || !ramp || !ir::is_const_one(ramp->stride)) return same;
    const Expr contiguous =
        ir::Load::make(op->type, op->name, index, op->image, op->param, op->predicate, ir::ModulusRemainder());
    return if_then_else(ir::simplify(unclamp.clamped), same, contiguous);
  }
};

}  // namespace

ir::Stmt unclamp_loads(const ir::Stmt& body) { return UnclampLoads().mutate(body); }

}  // namespace tc::halide_bridge
