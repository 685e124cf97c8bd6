#include "tc/cpu/stmt/pick_lanes.h"

#include <vector>

#include "tc/halide_bridge/stmt/first_lanes.h"

namespace tc::cpu {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

/// Lanes farther apart are loaded one by one.
constexpr std::int64_t most_apart = 4;

/// Instructions of a contiguous vector, with its part of picking, in loads and inserts of one lane.
constexpr std::int64_t vector_cost = 2;

class PickLanes : public ir::IRMutator {
 public:
  explicit PickLanes(const Target& target) : target_(target) {}

 private:
  using ir::IRMutator::visit;

  Expr visit(const ir::Load* op) override {
    const auto* ramp = op->index.as<ir::Ramp>();
    const auto* apart = ramp ? ir::as_const_int(ramp->stride) : nullptr;
    bool near = apart && *apart >= 2 && *apart <= most_apart && ramp->base.type().is_scalar();
    if (!near || ir::is_const_one(op->predicate) || !has_masked_loads(op->type)) return ir::IRMutator::visit(op);
    Expr last = halide_bridge::last_running_lane(op->predicate);
    if (last.defined() && are_few(last, *apart, ramp->lanes)) return ir::IRMutator::visit(op);
    return picked(op, *ramp, *apart, last);
  }

  bool has_masked_loads(const Halide::Type& type) const {
    auto narrowest = target_.instructions->masked_load_bits;
    return narrowest > 0 && type.bits() >= narrowest;
  }

  static bool are_few(const Expr& last, std::int64_t apart, std::int64_t lanes) {
    const auto* number = ir::as_const_int(last);
    return number && *number + 1 <= vector_cost * (*number * apart / lanes + 1);
  }

  /// Vector number \p k of all elements that \p ramp spans begins at its element k * lanes.
  Expr picked(const ir::Load* op, const ir::Ramp& ramp, std::int64_t apart, const Expr& last) {
    int lanes = ramp.lanes;
    Expr base = mutate(ramp.base);
    auto type = base.type();
    std::vector<Expr> vectors;
    std::vector<int> picks;
    for (int k = 0; k < apart; ++k) {
      Expr start = ir::simplify(base + ir::make_const(type, k * lanes));
      Expr index = ir::Ramp::make(start, ir::make_one(type), lanes);
      Expr runs = last.defined() ? first_elements(last, apart, k * lanes, lanes)
                                 : elements_of(op->predicate, apart, k * lanes, lanes);
      vectors.push_back(ir::is_const_zero(runs) ? ir::make_zero(op->type)
                                                : ir::Load::make(op->type, op->name, index, op->image, op->param, runs,
                                                                 ir::ModulusRemainder()));
    }
    for (int lane = 0; lane < lanes; ++lane) picks.push_back(lane * static_cast<int>(apart));
    return ir::Shuffle::make(vectors, picks);
  }

  /// The elements from number \p first on, up to that of lane \p last.
  static Expr first_elements(const Expr& last, std::int64_t apart, int first, int lanes) {
    auto type = last.type();
    Expr end = ir::simplify(last * ir::make_const(type, apart) - ir::make_const(type, first));
    if (const auto* number = ir::as_const_int(end)) {
      if (*number < 0) return ir::const_false(lanes);
      if (*number >= lanes - 1) return ir::const_true(lanes);
    }
    return ir::LE::make(ir::Ramp::make(ir::make_zero(type), ir::make_one(type), lanes),
                        ir::Broadcast::make(end, lanes));
  }

  /// Of the elements from number \p first on, those of lanes for which \p predicate holds.
  static Expr elements_of(const Expr& predicate, std::int64_t apart, int first, int lanes) {
    std::vector<int> picks;
    for (int element = first; element < first + lanes; ++element)
      picks.push_back(element % apart == 0 ? element / static_cast<int>(apart) : lanes);
    return ir::Shuffle::make({predicate, ir::const_false(lanes)}, picks);
  }

  const Target& target_;
};

}  // namespace

ir::Stmt pick_lanes(const ir::Stmt& body, const Target& target) { return PickLanes(target).mutate(body); }

}  // namespace tc::cpu
