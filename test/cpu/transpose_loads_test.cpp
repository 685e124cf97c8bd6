#include "tc/cpu/stmt/transpose_loads.h"

#include <gtest/gtest.h>

#include <sstream>

#include "test/cpu/shuffled_lanes.h"

namespace tc::cpu {
namespace {

using Halide::Expr;
using Halide::Float;
namespace ir = Halide::Internal;
using ir::Stmt;

/// to[64 t + lanes] = from[base + t + 100 lanes] for the stores t of a block, in the lanes that \p predicate lets run.
struct Copies {
  std::string from = "A", to = "B";
  int lanes = 4, stores = 4, step = 1, stride = 100;
  Expr predicate;
  bool guarded = false;  ///< each load by a condition of its own
};

Stmt block(const Copies& copies) {
  std::vector<Stmt> stores;
  Expr base = ir::Variable::make(Halide::Int(32), "base");
  Expr predicate = copies.predicate.defined() ? copies.predicate : ir::const_true(copies.lanes);
  for (int t = 0; t < copies.stores; ++t) {
    Expr source = ir::Ramp::make(base + t * copies.step, copies.stride, copies.lanes);
    Expr value = ir::Load::make(Float(32, copies.lanes), copies.from, source, Halide::Buffer<>(), ir::Parameter(),
                                predicate, {});
    if (copies.guarded) {
      Expr condition = ir::LT::make(base, 9 - t);
      value = ir::Call::make(value.type(), ir::Call::if_then_else, {condition, value, ir::make_zero(value.type())},
                             ir::Call::PureIntrinsic);
    }
    Expr target = ir::Ramp::make(64 * t, 1, copies.lanes);
    stores.push_back(ir::Store::make(copies.to, value, target, ir::Parameter(), predicate, {}));
  }
  return ir::Block::make(stores);
}

/// The loads of a statement: how many lie across memory, how many along it.
class CountLoads : public ir::IRVisitor {
 public:
  explicit CountLoads(const Stmt& stmt) { stmt.accept(this); }
  int across = 0, along = 0;

 private:
  using ir::IRVisitor::visit;
  void visit(const ir::Load* op) override { ++(ir::is_const_one(op->index.as<ir::Ramp>()->stride) ? along : across); }
};

std::string loads(const Copies& copies) {
  CountLoads count(transpose_loads(block(copies)));
  std::ostringstream text;
  text << count.across << " across, " << count.along << " along";
  return text.str();
}

Expr first_lanes(int count, int lanes) {
  return ir::LE::make(ir::Ramp::make(0, 1, lanes), ir::Broadcast::make(count - 1, lanes));
}

TEST(TransposeLoads, LoadsRowsOfASquareBlock) {
  EXPECT_EQ(loads({}), "0 across, 4 along");
  EXPECT_EQ(loads({.lanes = 16, .stores = 16}), "0 across, 16 along");
  EXPECT_EQ(loads({.lanes = 8, .stores = 16}), "0 across, 16 along");
}

TEST(TransposeLoads, DoesNotLoadRowsOfLanesThatAreOff) {
  EXPECT_EQ(loads({.predicate = first_lanes(3, 4)}), "0 across, 3 along");
}

TEST(TransposeLoads, LeavesWhatIsNoSquareBlock) {
  EXPECT_EQ(loads({.stores = 3}), "3 across, 0 along");
  EXPECT_EQ(loads({.step = 2}), "4 across, 0 along");
  EXPECT_EQ(loads({.stride = 2}), "4 across, 0 along");
  EXPECT_EQ(loads({.to = "A"}), "4 across, 0 along");
  EXPECT_EQ(loads({.guarded = true}), "4 across, 0 along");
  EXPECT_EQ(loads({.predicate = ir::Variable::make(Halide::Bool(4), "p")}), "4 across, 0 along");
}

/// What rows r become: the columns, by interpreting the shuffles of the block.
TEST(TransposeLoads, InterleavingRoundsTransposeTheRows) {
  auto shuffled = interpret_shuffles(transpose_loads(block({})));
  Stmt rest = shuffled.body;
  for (int column = 0; column < 4; ++column) {
    const auto* pair = rest.as<ir::Block>();
    const auto* store = (pair ? pair->first : rest).as<ir::Store>();
    EXPECT_EQ(shuffled.of(store->value), (std::vector<int>{column, 100 + column, 200 + column, 300 + column}));
    if (pair) rest = pair->rest;
  }
}

}  // namespace
}  // namespace tc::cpu
