#include "tc/cpu/stmt/transpose_stores.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "test/cpu/shuffled_lanes.h"

namespace tc::cpu::transpose_stores_test {
namespace {

using Halide::Expr;
using Halide::Float;
namespace ir = Halide::Internal;
using ir::Stmt;

/// to[base + t + 100 lanes] = from[64 t + lanes] for the stores t of a block.
struct Copies {
  std::string from = "A", to = "B";
  int lanes = 4, stores = 4, step = 1, stride = 100, bits = 32;
  Expr predicate;
};

Stmt block(const Copies& copies) {
  std::vector<Stmt> stores;
  Expr base = ir::Variable::make(Halide::Int(32), "base");
  Expr always = ir::const_true(copies.lanes);
  for (int t = 0; t < copies.stores; ++t) {
    Expr value = ir::Load::make(Float(copies.bits, copies.lanes), copies.from, ir::Ramp::make(64 * t, 1, copies.lanes),
                                Halide::Buffer<>(), ir::Parameter(), always, {});
    stores.push_back(ir::Store::make(copies.to, value,
                                     ir::Ramp::make(base + t * copies.step, copies.stride, copies.lanes),
                                     ir::Parameter(), copies.predicate.defined() ? copies.predicate : always, {}));
  }
  return ir::Block::make(stores);
}

/// The stores of a statement: how many lie across memory, how many along it, and of these under a mask.
std::string stores(const Stmt& stmt) {
  struct Count : ir::IRVisitor {
    int across = 0, along = 0, masked = 0;
    void visit(const ir::Store* op) override {
      bool contiguous = ir::is_const_one(op->index.as<ir::Ramp>()->stride);
      ++(contiguous ? along : across);
      masked += contiguous && !ir::is_const_one(op->predicate);
    }
  } count;
  stmt.accept(&count);
  std::ostringstream text;
  text << count.across << " across, " << count.along << " along, " << count.masked << " masked";
  return text.str();
}
std::string transposed(const Copies& copies) { return stores(transpose_stores(block(copies))); }

TEST(TransposeStores, StoresColumnsOfASquareBlock) {
  EXPECT_EQ(transposed({}), "0 across, 4 along, 0 masked");
  EXPECT_EQ(transposed({.lanes = 16, .stores = 16}), "0 across, 16 along, 0 masked");
  EXPECT_EQ(transposed({.lanes = 8, .stores = 16}), "0 across, 16 along, 0 masked");
  EXPECT_EQ(transposed({.stride = -100}), "0 across, 4 along, 0 masked");
}

TEST(TransposeStores, StoresFewerRowsUnderAMask) {
  EXPECT_EQ(transposed({.lanes = 16, .stores = 14}), "0 across, 16 along, 16 masked");
  EXPECT_EQ(transposed({.lanes = 16, .stores = 6}), "0 across, 16 along, 16 masked");
  EXPECT_EQ(transposed({.lanes = 8, .stores = 13}), "0 across, 16 along, 8 masked");
}

TEST(TransposeStores, StoresPowersOfTwoOfRowsWhereNoMaskIs) {
  EXPECT_EQ(transposed({.lanes = 16, .stores = 8}), "0 across, 16 along, 0 masked");
  EXPECT_EQ(transposed({.lanes = 16, .stores = 4}), "0 across, 16 along, 0 masked");
  EXPECT_EQ(transposed({.lanes = 16, .stores = 2}), "0 across, 16 along, 0 masked");
  EXPECT_EQ(transposed({.lanes = 16, .stores = 1}), "1 across, 0 along, 0 masked");
  EXPECT_EQ(transposed({.stores = 3}), "1 across, 4 along, 0 masked");
  EXPECT_EQ(transposed({.lanes = 16, .stores = 14, .bits = 16}), "0 across, 48 along, 0 masked");
}

TEST(TransposeStores, LeavesWhatIsNoBlock) {
  EXPECT_EQ(transposed({.step = 2}), "4 across, 0 along, 0 masked");
  EXPECT_EQ(transposed({.stride = 3}), "4 across, 0 along, 0 masked");
  EXPECT_EQ(transposed({.from = "B"}), "4 across, 0 along, 0 masked");
  EXPECT_EQ(transposed({.predicate = ir::Variable::make(Halide::Bool(4), "p")}), "4 across, 0 along, 0 masked");
  auto local = ir::Allocate::make("B", Float(32), Halide::MemoryType::Stack, {4096}, ir::const_true(), block({}));
  EXPECT_EQ(stores(transpose_stores(local)), "4 across, 0 along, 0 masked");
}

/// What is stored where: lane l of store t as 100 t + l; masked lanes left out.
std::map<std::int64_t, int> stored(const Stmt& stmt) {
  auto shuffled = interpret_shuffles(stmt);
  std::map<std::int64_t, int> result;
  for (Stmt rest = shuffled.body; rest.defined();) {
    const auto* pair = rest.as<ir::Block>();
    const auto* store = (pair ? pair->first : rest).as<ir::Store>();
    const auto& lanes = shuffled.of(store->value);
    auto first = *ir::as_const_int(ir::simplify(ir::substitute("base", 0, store->index.as<ir::Ramp>()->base)));
    int running = ir::is_const_one(store->predicate) ? static_cast<int>(lanes.size()) : shuffled.rows;
    for (int lane = 0; lane < running; ++lane) result[first + lane] = lanes.at(lane);
    rest = pair ? pair->rest : Stmt();
  }
  return result;
}

TEST(TransposeStores, EveryElementGoesToItsPlace) {
  for (auto [lanes, rows] : {std::pair(4, 4), std::pair(8, 6), std::pair(16, 14), std::pair(16, 16), std::pair(16, 2),
                             std::pair(16, 4), std::pair(16, 6), std::pair(8, 4)}) {
    auto memory = stored(transpose_stores(block({.lanes = lanes, .stores = rows})));
    EXPECT_EQ(memory.size(), static_cast<std::size_t>(lanes * rows));
    for (auto [address, value] : memory) EXPECT_EQ(value, 100 * (address % 100) + address / 100);
  }
}

}  // namespace
}  // namespace tc::cpu::transpose_stores_test
