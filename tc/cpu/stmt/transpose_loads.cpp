#include "tc/cpu/stmt/transpose_loads.h"

#include <algorithm>
#include <map>
#include <vector>

#include "tc/cpu/stmt/transposition.h"
#include "tc/halide_bridge/stmt/first_lanes.h"
#include "tc/halide_bridge/stmt/flatten.h"

namespace tc::cpu {
namespace {

using Halide::Expr;
namespace ir = Halide::Internal;
using ir::Stmt;

/// A stride up to this is cheaper to load and pick from.
constexpr std::int64_t near_stride = 4;

bool is_power_of_two(int n) { return n > 2 && (n & (n - 1)) == 0; }

/// How many lanes run, from the first on: all without a predicate, -1 where that is not known.
int running_lanes(const ir::Load& load) {
  int lanes = load.type.lanes();
  if (ir::is_const_one(load.predicate)) return lanes;
  Expr last = halide_bridge::last_running_lane(load.predicate);
  const auto* number = last.defined() ? ir::as_const_int(last) : nullptr;
  if (!number) return -1;
  return static_cast<int>(std::clamp<std::int64_t>(*number + 1, 0, lanes));
}

/// The loads of a value that lie across memory, in the order of the value; without those a condition may keep from
/// happening.
class FarLoads : public ir::IRVisitor {
 public:
  explicit FarLoads(const Expr& value) { value.accept(this); }
  std::vector<const ir::Load*> found;

 private:
  using ir::IRVisitor::visit;
  void visit(const ir::Load* op) override {
    const auto* ramp = op->index.as<ir::Ramp>();
    const auto* stride = ramp ? ir::as_const_int(ramp->stride) : nullptr;
    bool far = ramp && ramp->base.type().is_scalar() && (!stride || std::abs(*stride) > near_stride);
    if (far && is_power_of_two(ramp->lanes) && running_lanes(*op) > 0) found.push_back(op);
    ir::IRVisitor::visit(op);
  }
  void visit(const ir::Call* op) override {
    if (op->is_intrinsic(ir::Call::if_then_else)) return op->args[0].accept(this);
    ir::IRVisitor::visit(op);
  }
};

/// Replaces loads by variables.
class ReplaceLoads : public ir::IRMutator {
 public:
  std::map<const ir::Load*, Expr> variables;

 private:
  using ir::IRMutator::visit;
  Expr visit(const ir::Load* op) override {
    auto found = variables.find(op);
    return found == variables.end() ? ir::IRMutator::visit(op) : found->second;
  }
};

bool follows(const ir::Load* load, const ir::Load* first, int distance) {
  const auto* a = load->index.as<ir::Ramp>();
  const auto* b = first->index.as<ir::Ramp>();
  if (load->name != first->name || load->type != first->type || a->lanes != b->lanes ||
      !ir::equal(a->stride, b->stride))
    return false;
  if (!ir::equal(load->predicate, first->predicate)) return false;
  Expr difference = ir::simplify(a->base - b->base);
  const auto* number = ir::as_const_int(difference);
  return number && *number == distance;
}

class Transposer : public ir::IRMutator {
 private:
  using ir::IRMutator::visit;

  Stmt visit(const ir::Block* op) override {
    std::vector<Stmt> parts, result;
    halide_bridge::flatten(op, parts);
    for (std::size_t i = 0; i < parts.size();) {
      auto taken = square(parts, i, result);
      if (taken == 0) result.push_back(mutate(parts[i]));
      i += std::max<std::size_t>(taken, 1);
    }
    return ir::Block::make(result);
  }

  /// Rewrites the square block of stores that starts at \p first, if there is one, into \p result; returns how many it
  /// has.
  static std::size_t square(const std::vector<Stmt>& parts, std::size_t first, std::vector<Stmt>& result) {
    const auto* store = parts[first].as<ir::Store>();
    if (!store) return 0;
    FarLoads heads(store->value);
    for (std::size_t place = 0; place < heads.found.size(); ++place) {
      auto lanes = static_cast<std::size_t>(heads.found[place]->type.lanes());
      if (first + lanes > parts.size()) continue;
      std::vector<const ir::Load*> loads;
      if (!column(parts, first, lanes, place, loads)) continue;
      result.push_back(rewrite(parts, first, loads));
      return lanes;
    }
    return 0;
  }

  /// Collects the far load number \p place of each store; false where one does not follow the first.
  static bool column(const std::vector<Stmt>& parts, std::size_t first, std::size_t lanes, std::size_t place,
                     std::vector<const ir::Load*>& loads) {
    for (std::size_t i = 0; i < lanes; ++i) {
      const auto* store = parts[first + i].as<ir::Store>();
      if (!store) return false;
      FarLoads far(store->value);
      if (place >= far.found.size()) return false;
      loads.push_back(far.found[place]);
      if (store->name == loads.front()->name || !follows(loads.back(), loads.front(), static_cast<int>(i)))
        return false;
    }
    return true;
  }

  static Stmt rewrite(const std::vector<Stmt>& parts, std::size_t first, const std::vector<const ir::Load*>& loads) {
    Steps steps;
    const auto* head = loads.front();
    const auto* ramp = head->index.as<ir::Ramp>();
    std::vector<Expr> rows;
    for (int row = 0; row < ramp->lanes; ++row) {
      if (row >= running_lanes(*head)) {
        rows.push_back(ir::make_zero(head->type));
        continue;
      }
      Expr base = ir::simplify(ramp->base + ramp->stride * ir::make_const(ramp->base.type(), row));
      Expr index = ir::Ramp::make(base, ir::make_const(ramp->base.type(), 1), ramp->lanes);
      rows.push_back(steps(ir::Load::make(head->type, head->name, index, head->image, head->param,
                                          ir::const_true(ramp->lanes), ir::ModulusRemainder())));
    }
    auto columns = transposed(steps, rows);
    ReplaceLoads replace;
    for (std::size_t i = 0; i < loads.size(); ++i) replace.variables[loads[i]] = columns[i];
    std::vector<Stmt> stores;
    for (std::size_t i = 0; i < loads.size(); ++i) stores.push_back(replace.mutate(parts[first + i]));
    return steps.around(ir::Block::make(stores));
  }
};

}  // namespace

Stmt transpose_loads(const Stmt& stmt) { return Transposer().mutate(stmt); }

}  // namespace tc::cpu
