#include "tc/cpu/stmt/transpose_stores.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "tc/cpu/stmt/transposition.h"
#include "tc/halide_bridge/stmt/flatten.h"

namespace tc::cpu {
namespace {

using Halide::Expr;
namespace ir = Halide::Internal;
using ir::Stmt;

/// Vectors of fewer lanes are not stored under a mask.
constexpr int least_masked_lanes = 8;

/// Elements that every processor with masks stores under one.
constexpr int least_masked_bits = 32;

int next_power_of_two(int count) {
  int result = 1;
  while (result < count) result *= 2;
  return result;
}

/// Of \p rows stores in a row of \p type, how many are a block, at least two: a power of two, or all under a mask.
int rows_of_block(int rows, const Halide::Type& type) {
  const int columns = next_power_of_two(rows);
  const bool may_mask = columns >= least_masked_lanes && type.bits() >= least_masked_bits;
  return rows == columns || may_mask ? rows : columns / 2;
}

bool reads(const Expr& value, const std::string& buffer) {
  struct Finder : ir::IRVisitor {
    std::string buffer;
    bool found = false;
    void visit(const ir::Load* op) override {
      found = found || op->name == buffer;
      ir::IRVisitor::visit(op);
    }
  } finder;
  finder.buffer = buffer;
  value.accept(&finder);
  return finder.found;
}

/// Elements from one lane of \p store to the next, 0 where all of its lanes do not lie far apart.
std::int64_t far_stride(const ir::Store& store) {
  const auto* ramp = store.index.as<ir::Ramp>();
  const auto* stride = ramp ? ir::as_const_int(ramp->stride) : nullptr;
  if (!stride || !ramp->base.type().is_scalar() || !ir::is_const_one(store.predicate)) return 0;
  bool is_power_of_two = ramp->lanes > 2 && (ramp->lanes & (ramp->lanes - 1)) == 0;
  return is_power_of_two && std::abs(*stride) >= ramp->lanes ? *stride : 0;
}

class Transposer : public ir::IRMutator {
 private:
  using ir::IRMutator::visit;

  Stmt visit(const ir::Allocate* op) override {
    local_.insert(op->name);
    return ir::IRMutator::visit(op);
  }

  Stmt visit(const ir::Block* op) override {
    std::vector<Stmt> parts, result;
    halide_bridge::flatten(op, parts);
    for (std::size_t i = 0; i < parts.size();) {
      auto rows = block_at(parts, i);
      result.push_back(rows.empty() ? mutate(parts[i]) : rewrite(rows));
      i += std::max<std::size_t>(rows.size(), 1);
    }
    return ir::Block::make(result);
  }

  /// The stores of the block that starts at \p first; none where there is no block.
  std::vector<const ir::Store*> block_at(const std::vector<Stmt>& parts, std::size_t first) const {
    std::vector<const ir::Store*> rows;
    const auto* head = parts[first].as<ir::Store>();
    auto stride = head ? far_stride(*head) : 0;
    if (stride == 0 || local_.count(head->name)) return {};
    auto lanes = static_cast<std::size_t>(head->value.type().lanes());
    for (std::size_t i = first; i < parts.size() && rows.size() < lanes; ++i) {
      const auto* store = parts[i].as<ir::Store>();
      if (!store || !follows(*store, *head, stride, static_cast<int>(rows.size()))) break;
      rows.push_back(store);
    }
    rows.resize(static_cast<std::size_t>(rows_of_block(static_cast<int>(rows.size()), head->value.type())));
    return rows.size() > 1 ? rows : std::vector<const ir::Store*>();
  }

  static bool follows(const ir::Store& store, const ir::Store& head, std::int64_t stride, int distance) {
    if (store.name != head.name || store.value.type() != head.value.type() || far_stride(store) != stride ||
        reads(store.value, store.name))
      return false;
    Expr difference = ir::simplify(store.index.as<ir::Ramp>()->base - head.index.as<ir::Ramp>()->base);
    const auto* number = ir::as_const_int(difference);
    return number && *number == distance;
  }

  static Stmt rewrite(const std::vector<const ir::Store*>& rows) {
    Steps steps;
    const auto* head = rows.front();
    const auto* ramp = head->index.as<ir::Ramp>();
    int lanes = ramp->lanes, running = static_cast<int>(rows.size()), width = next_power_of_two(running);
    std::vector<Expr> values;
    for (const auto* row : rows) values.push_back(steps(row->value));
    values.resize(static_cast<std::size_t>(width), values.back());
    auto columns = transposed(steps, values);
    auto type = ramp->base.type();
    Expr one = ir::make_const(type, 1), predicate = ir::const_true(width);
    if (running < width) predicate = ir::LE::make(ir::Ramp::make(0, 1, width), ir::Broadcast::make(running - 1, width));
    std::vector<Stmt> stores;
    for (int column = 0; column < lanes; ++column) {
      Expr base = ir::simplify(ramp->base + ramp->stride * ir::make_const(type, column));
      Expr value = columns[static_cast<std::size_t>(column * width / lanes)];
      if (width < lanes) value = steps(ir::Shuffle::make_slice(value, column * width % lanes, 1, width));
      stores.push_back(ir::Store::make(head->name, value, ir::Ramp::make(base, one, width), head->param, predicate,
                                       ir::ModulusRemainder()));
    }
    return steps.around(ir::Block::make(stores));
  }

  std::set<std::string> local_;
};

}  // namespace

Stmt transpose_stores(const Stmt& stmt) { return Transposer().mutate(stmt); }

}  // namespace tc::cpu
