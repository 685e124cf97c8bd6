#include "tc/cpu/stmt/jam_ragged_loops.h"

#include <gtest/gtest.h>

#include "test/cpu/halide_statements.h"

namespace tc::cpu::jam_ragged_loops_test {
namespace {

using Halide::Expr;
namespace ir = Halide::Internal;
using ir::Stmt;

const Expr begin = variable("begin"), end = variable("end"), c = variable("c"), j = variable("j");

/// let begin = P[r], let end = P[r + 1], for j from begin to end: body
Stmt ragged(const Stmt& body, const Expr& row = variable("r")) {
  const Stmt inner = ir::For::make("j", begin, end - begin, ir::ForType::Serial, Halide::DeviceAPI::None, body);
  return ir::LetStmt::make("begin", load_int("P", row), ir::LetStmt::make("end", load_int("P", row + 1), inner));
}

/// The ragged loops in a statement, and the stores of Y in them.
class Counted : public ir::IRVisitor {
 public:
  explicit Counted(const Stmt& stmt) { stmt.accept(this); }
  int loops = 0, inside = 0, outside = 0, kept = 0;

 private:
  using ir::IRVisitor::visit;
  void visit(const ir::For* op) override {
    const bool is_ragged = !ir::is_const(op->extent);
    loops += is_ragged;
    depth_ += is_ragged;
    ir::IRVisitor::visit(op);
    depth_ -= is_ragged;
  }
  void visit(const ir::Store* op) override {
    if (op->name != "Y")
      ++kept;
    else
      ++(depth_ > 0 ? inside : outside);
    ir::IRVisitor::visit(op);
  }
  int depth_ = 0;
};

const Expr place = vector(c * 16),
           value = load("Y", vector(c * 16)) + load("X", vector(load_int("I", j) * 64 + c * 16));

TEST(JamRaggedLoops, ResultsStayInRegisters) {
  const Stmt sum = ragged(store("Y", place, value));
  for (const Stmt& body : {sum, ir::Block::make(store("Y", place, ir::make_zero(value.type())), sum)}) {
    const Counted four(jam_ragged_loops(loop("c", 4, body)));
    EXPECT_EQ(four.loops, 1);
    EXPECT_EQ(four.inside, 0);
    EXPECT_EQ(four.outside, 4);
    EXPECT_EQ(four.kept, 8);
  }
  EXPECT_EQ(Counted(jam_ragged_loops(loop("c", 19, sum))).loops, 2) << "groups of eight, and three";
}

TEST(JamRaggedLoops, OthersStay) {
  const auto stays = [](const Stmt& body) { return Counted(jam_ragged_loops(loop("c", 4, body))).inside == 1; };
  EXPECT_TRUE(stays(ragged(store("Y", vector(c * 8), load("Y", vector(c * 8)) + load("X", vector(j)))))) << "overlap";
  EXPECT_TRUE(stays(ragged(store("Y", place, value + load("Y", vector(0)))))) << "another element of Y";
  EXPECT_TRUE(stays(ragged(store("Y", vector(c * 16 + j), load("X", vector(j)))))) << "moves along j";
  EXPECT_TRUE(stays(ragged(store("Y", place, value), c))) << "other bounds in each iteration";
  EXPECT_TRUE(stays(ir::Block::make(store("Y", vector(0), load("X", vector(0))), ragged(store("Y", place, value)))));
  EXPECT_EQ(Counted(jam_ragged_loops(loop("c", variable("n"), ragged(store("Y", place, value))))).inside, 1);
}

}  // namespace
}  // namespace tc::cpu::jam_ragged_loops_test
