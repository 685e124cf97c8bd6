#include "tc/cuda/swizzled_buffers.h"

#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/base/str.h"

namespace tc::cuda {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

/// Puts elements of swizzled buffers where they belong.
class Swizzler : public ir::IRMutator {
 public:
  Swizzler(const std::map<std::string, Swizzle>& swizzles, const std::array<std::int64_t, 3>& block)
      : swizzles_(swizzles) {
    for (int d = 0; d < 3; ++d)
      bounds_.push(str("thread_", "xyz"[d]), {Expr(0), Expr(static_cast<int>(block[static_cast<std::size_t>(d)]) - 1)});
  }

 private:
  using ir::IRMutator::visit;

  ir::Stmt visit(const ir::For* op) override {
    auto least = ir::find_constant_bound(op->min, ir::Direction::Lower, bounds_);
    auto most = ir::find_constant_bound(op->min + op->extent - 1, ir::Direction::Upper, bounds_);
    ir::Interval range(least.defined() ? least : ir::Interval::neg_inf(),
                       most.defined() ? most : ir::Interval::pos_inf());
    ir::ScopedBinding<ir::Interval> bound(bounds_, op->name, range);
    return ir::IRMutator::visit(op);
  }

  Expr visit(const ir::Load* op) override {
    auto found = swizzles_.find(op->name);
    if (found == swizzles_.end()) return ir::IRMutator::visit(op);
    return ir::Load::make(op->type, op->name, moved(mutate(op->index), found->second), op->image, op->param,
                          mutate(op->predicate), ir::ModulusRemainder());
  }
  ir::Stmt visit(const ir::Store* op) override {
    auto found = swizzles_.find(op->name);
    if (found == swizzles_.end()) return ir::IRMutator::visit(op);
    return ir::Store::make(op->name, mutate(op->value), moved(mutate(op->index), found->second), op->param,
                           mutate(op->predicate), ir::ModulusRemainder());
  }
  ir::Stmt visit(const ir::Allocate* op) override {
    auto found = swizzles_.find(op->name);
    const auto* count = found == swizzles_.end() ? nullptr : ir::as_const_int(op->extents.at(0));
    if (!count) return ir::IRMutator::visit(op);
    Expr whole(static_cast<int>(round_up(*count, found->second.period())));
    return ir::Allocate::make(op->name, op->type, op->memory_type, {whole}, op->condition, mutate(op->body));
  }

  /// \p place moved; the lanes of a vector stay a ramp where they stay together.
  Expr moved(const Expr& place, const Swizzle& swizzle) const {
    const auto* ramp = place.as<ir::Ramp>();
    bool together = ramp && ir::is_const_one(ramp->stride) && swizzle.to < 16 && (1 << swizzle.to) % ramp->lanes == 0;
    auto alignment = together ? ir::modulus_remainder(ramp->base) : ir::ModulusRemainder();
    if (together && alignment.modulus % ramp->lanes == 0 && alignment.remainder % ramp->lanes == 0)
      return ir::Ramp::make(moved(ramp->base, swizzle), ramp->stride, ramp->lanes);
    auto number = [&](std::int64_t value) { return ir::make_const(place.type(), value); };
    auto simple = [&](const Expr& e) { return ir::simplify(e, true, bounds_); };
    Expr width = number(std::int64_t{1} << swizzle.to), at = place;
    if (swizzle.panel > 0) {
      Expr panel = number(swizzle.panel), columns = number(swizzle.columns);
      at = simple(simple(place % columns / panel) * number(swizzle.rows * swizzle.panel) +
                  simple(place / columns) * panel + simple(place % panel));
    }
    Expr piece = simple(at / width), rest = simple(at % width);
    Expr row = piece;
    for (int bit = swizzle.to; bit < swizzle.from; ++bit) row = simple(row / number(2));
    Expr key = simple(row % number(std::int64_t{1} << swizzle.bits));
    return simple(ir::Call::make(place.type(), ir::Call::bitwise_xor, {piece, key}, ir::Call::PureIntrinsic) * width +
                  rest);
  }

  const std::map<std::string, Swizzle>& swizzles_;
  ir::Scope<ir::Interval> bounds_;
};

}  // namespace

std::set<std::string> described_buffers(const Halide::Internal::Stmt& body) {
  struct Finder : Halide::Internal::IRVisitor {
    using Halide::Internal::IRVisitor::visit;
    std::set<std::string> names;
    void visit(const Halide::Internal::Call* op) override {
      Halide::Internal::IRVisitor::visit(op);
      if (op->name == "tc_matrix") names.insert(op->args[0].as<Halide::Internal::Load>()->name);
    }
  } finder;
  body.accept(&finder);
  return finder.names;
}

ir::Stmt swizzled(const ir::Stmt& body, const std::map<std::string, Swizzle>& swizzles,
                  const std::array<std::int64_t, 3>& block) {
  return swizzles.empty() ? body : Swizzler(swizzles, block).mutate(body);
}

}  // namespace tc::cuda
