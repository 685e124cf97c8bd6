#include "tc/cuda/shared_layout.h"

#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/base/str.h"

namespace tc::cuda {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

/// Accesses that are counted, at most; they are many where loops nest deeply.
constexpr std::size_t most_counted = 96;

int logarithm(std::int64_t power) {
  int result = 0;
  while ((std::int64_t{1} << result) < power) ++result;
  return result;
}

std::vector<WarpAccess> sample(const std::vector<WarpAccess>& accesses) {
  std::vector<WarpAccess> result;
  auto every = ceil_div(accesses.size(), most_counted);
  for (std::size_t i = 0; i < accesses.size(); i += std::max<std::size_t>(every, 1)) result.push_back(accesses[i]);
  return result;
}

/// Layouts with rows of \p row elements and \p piece elements that stay together, the simplest first.
std::vector<SharedLayout> candidates(const SharedLayout& now, std::int64_t row, std::int64_t piece) {
  std::vector<SharedLayout> result{now};
  for (std::int64_t pad : {0, 1, 2, 4, 8}) result.push_back({now.columns, now.rows, row + pad * piece, {}});
  int row_bits = logarithm(row), to = logarithm(piece);
  if ((std::int64_t{1} << row_bits) != row || (std::int64_t{1} << to) != piece) return result;
  for (int bits = 1; to + bits <= row_bits && bits <= 5; ++bits)
    for (int from = row_bits; from <= row_bits + 4; ++from)
      result.push_back({now.columns, now.rows, row, {bits, from, to}});
  return result;
}

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

std::int64_t SharedLayout::elements() const { return round_up((rows - 1) * pitch + columns, swizzle.period()); }

BankCount count_bank_conflicts(const std::vector<WarpAccess>& accesses, const SharedLayout& before,
                               const SharedLayout& after, std::int64_t banks) {
  BankCount result;
  for (auto access : accesses) {
    for (auto& place : access.places) {
      auto dense = before.swizzle(place);
      place = after.swizzle(dense / before.pitch * after.pitch + dense % before.pitch);
    }
    result.rounds += access.times * rounds(access, banks);
    result.fewest += access.times * fewest_rounds(access, banks);
  }
  return result;
}

SharedLayout best_layout(const std::vector<WarpAccess>& accesses, const SharedLayout& now, std::int64_t banks,
                         std::int64_t most) {
  auto counted = sample(accesses);
  auto best = now;
  auto count = count_bank_conflicts(counted, now, now, banks);
  std::int64_t piece = 1;
  for (const auto& access : accesses) piece = std::max<std::int64_t>(piece, access.elements);
  for (const auto& layout : candidates(now, round_up(now.columns, piece), piece)) {
    if (count.conflicts() == 0) break;
    if (layout.elements() > std::max(most, now.elements())) continue;
    auto here = count_bank_conflicts(counted, now, layout, banks);
    if (here.rounds >= count.rounds) continue;
    count = here;
    best = layout;
  }
  return best;
}

}  // namespace tc::cuda
