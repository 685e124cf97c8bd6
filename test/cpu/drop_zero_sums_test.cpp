#include "tc/cpu/stmt/drop_zero_sums.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tc/halide_bridge/stmt/strict.h"

namespace tc::cpu::drop_zero_sums_test {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using ir::Stmt;

Expr load(const std::string& name, int place) {
  return ir::Load::make(Halide::Float(32), name, place, Halide::Buffer<>(), ir::Parameter(), ir::const_true(), {});
}

Stmt store(int place, const Expr& value) {
  return ir::Store::make("acc", halide_bridge::strict(value), place, ir::Parameter(), ir::const_true(), {});
}

const Expr zero = ir::FloatImm::make(Halide::Float(32), 0);
Stmt adds(int place) { return store(place, load("acc", place) + load("X", place)); }
Stmt adds_zero(int place) { return store(place, ir::Add::make(load("acc", place), zero)); }

Stmt loop(const Stmt& body) { return ir::For::make("c", 0, 10, ir::ForType::Serial, Halide::DeviceAPI::None, body); }

std::string text(const Stmt& stmt) {
  std::ostringstream out;
  out << stmt;
  return out.str();
}

const Expr p = ir::Variable::make(Halide::Bool(), "p");

TEST(DropZeroSums, LeavesOutSumsLoopsAndBranchesThatAddNothing) {
  const auto before = ir::IfThenElse::make(p, loop(ir::Block::make(adds(0), adds_zero(1))),
                                           loop(ir::Block::make(adds_zero(0), adds_zero(1))));
  EXPECT_EQ(text(drop_zero_sums(before)), text(ir::IfThenElse::make(p, loop(adds(0)))));
}

TEST(DropZeroSums, KeepsTheOtherBranch) {
  EXPECT_EQ(text(drop_zero_sums(ir::IfThenElse::make(p, adds_zero(0), adds(0)))),
            text(ir::IfThenElse::make(ir::Not::make(p), adds(0))));
  EXPECT_TRUE(ir::is_no_op(drop_zero_sums(ir::IfThenElse::make(p, adds_zero(0), adds_zero(1)))));
}

TEST(DropZeroSums, KeepsWhatWritesSomethingElse) {
  for (const auto& kept : {adds(0), store(0, ir::Add::make(load("acc", 1), zero)), store(0, zero),
                           store(0, ir::Add::make(load("X", 0), zero)), store(0, ir::Mul::make(load("acc", 0), zero)),
                           store(0, ir::Add::make(load("acc", 0), ir::FloatImm::make(Halide::Float(32), 1)))})
    EXPECT_TRUE(drop_zero_sums(loop(kept)).as<ir::For>()) << text(kept);
}

}  // namespace
}  // namespace tc::cpu::drop_zero_sums_test
