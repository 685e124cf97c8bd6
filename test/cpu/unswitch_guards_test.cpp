#include "tc/cpu/guards/unswitch_guards.h"

#include <gtest/gtest.h>

#include <sstream>

#include "test/cpu/halide_statements.h"

namespace tc::cpu::unswitch_guards_test {
namespace {

using Halide::Expr;
using Halide::Int;
namespace ir = Halide::Internal;
using ir::Stmt;

/// to[place] = to[read] + (condition ? X[c] : 0)
Stmt add_if(const Expr& condition, int place, const std::string& to = "acc", int read = -1) {
  Expr term = load_int("X", variable("c"));
  if (condition.defined()) term = value_if(condition, term);
  return store(to.c_str(), place, load_int(to, read < 0 ? place : read) + term);
}

Stmt loop(const char* name, const Stmt& body) {
  return ir::For::make(name, 0, 10, ir::ForType::Serial, Halide::DeviceAPI::None, body);
}

class Count : public ir::IRVisitor {
 public:
  explicit Count(const Stmt& stmt) { stmt.accept(this); }
  int loops = 0, branches = 0, conditionals = 0;

 private:
  using ir::IRVisitor::visit;
  void visit(const ir::For* op) override {
    ++loops;
    ir::IRVisitor::visit(op);
  }
  void visit(const ir::IfThenElse* op) override {
    ++branches;
    ir::IRVisitor::visit(op);
  }
  void visit(const ir::Call* op) override {
    conditionals += op->is_intrinsic(ir::Call::if_then_else);
    ir::IRVisitor::visit(op);
  }
};

std::string shape(const Stmt& stmt) {
  Count count(unswitch_guards(stmt));
  std::ostringstream text;
  text << count.loops << " loops, " << count.branches << " branches, " << count.conditionals << " conditionals";
  return text.str();
}

TEST(UnswitchGuards, GivesEachCombinationALoop) {
  Expr p = variable("h") >= 1, q = variable("w") < 5, r = variable("v") < 5, s = variable("u") < 5,
       t = variable("t") < 5;
  EXPECT_EQ(shape(loop("c", add_if(p, 0))), "2 loops, 1 branches, 0 conditionals");
  EXPECT_EQ(shape(loop("c", ir::Block::make(add_if(p, 0), add_if(q, 1)))), "4 loops, 3 branches, 0 conditionals");
  EXPECT_EQ(shape(loop("c", ir::Block::make({add_if(p, 0), add_if(q, 1), add_if(r, 2), add_if(s, 3), add_if(t, 4)}))),
            "11 loops, 6 branches, 0 conditionals");
}

TEST(UnswitchGuards, AsksForNothingThatFollows) {
  std::vector<Stmt> rows;
  for (int row = 0; row < 6; ++row) rows.push_back(add_if(variable("h") + row >= 1 && variable("h") + row < 4, row));
  EXPECT_EQ(shape(loop("c", ir::Block::make(rows))), "10 loops, 9 branches, 0 conditionals");
}

TEST(UnswitchGuards, DecidesEqualConditionsOnce) {
  Expr p = variable("h") >= 1;
  EXPECT_EQ(shape(loop("c", ir::Block::make({add_if(p, 0), add_if(p, 1), add_if(Expr(), 2)}))),
            "2 loops, 1 branches, 0 conditionals");
}

TEST(UnswitchGuards, LeavesWhatMustStayTogether) {
  Expr p = variable("h") >= 1, q = variable("w") < 5;
  EXPECT_EQ(shape(loop("c", add_if(variable("c") >= 1, 0))), "1 loops, 0 branches, 1 conditionals");
  EXPECT_EQ(shape(loop("c", ir::Block::make(add_if(p, 0), add_if(q, 0)))), "1 loops, 0 branches, 2 conditionals");
  EXPECT_EQ(shape(loop("c", ir::Block::make(add_if(p, 0), add_if(q, 1, "other")))),
            "1 loops, 0 branches, 2 conditionals");
  EXPECT_EQ(shape(loop("c", ir::Block::make(add_if(p, 0), add_if(q, 1, "acc", 0)))),
            "1 loops, 0 branches, 2 conditionals");
  EXPECT_EQ(shape(loop("c", add_if(p, 0, "X"))), "1 loops, 0 branches, 1 conditionals");
}

/// acc[ramp] = acc[ramp] + ((x8(condition) && lanes) ? X[ramp] : 0)
Stmt add_vector_if(const Expr& condition, int place) {
  const Expr index = ir::Ramp::make(place, 1, 8),
             lanes = ir::Ramp::make(0, 1, 8) < ir::Broadcast::make(variable("n"), 8);
  const auto load = [&](const std::string& name, const Expr& predicate) {
    return ir::Load::make(Int(32, 8), name, index, Halide::Buffer<>(), ir::Parameter(), predicate, {});
  };
  const Expr mask = ir::Broadcast::make(condition, 8) && lanes;
  const Expr term = ir::Select::make(mask, load("X", mask), ir::Broadcast::make(Expr(0), 8));
  return ir::Store::make("acc", load("acc", ir::const_true(8)) + term, index, ir::Parameter(), ir::const_true(8), {});
}

class Selects : public ir::IRVisitor {
 public:
  explicit Selects(const Stmt& stmt) { stmt.accept(this); }
  int count = 0, branches = 0;
  Stmt taken;  ///< where the condition of a branch holds

 private:
  using ir::IRVisitor::visit;
  void visit(const ir::Select* op) override {
    ++count;
    ir::IRVisitor::visit(op);
  }
  void visit(const ir::IfThenElse* op) override {
    ++branches;
    taken = op->then_case;
    ir::IRVisitor::visit(op);
  }
};

TEST(UnswitchGuards, BranchesOnWhatGuardsAllVectors) {
  const Expr p = variable("c") < variable("p");
  const Selects both(unswitch_guards(loop("c", ir::Block::make(add_vector_if(p, 0), add_vector_if(p, 8)))));
  ASSERT_EQ(both.branches, 1);
  EXPECT_EQ(Selects(both.taken).count, 2);
  EXPECT_EQ(both.count, 2) << "none is left where the guard does not hold";
}

TEST(UnswitchGuards, LeavesNumbersAsTheyAreComputed) {
  const Expr p = variable("c") < variable("p"), y = ir::Broadcast::make(variable("y"), 8);
  const Expr value = ir::Select::make(ir::Broadcast::make(p, 8), y - y, ir::Broadcast::make(Expr(0), 8));
  const Selects result(unswitch_guards(
      loop("c", ir::Store::make("acc", value, ir::Ramp::make(0, 1, 8), ir::Parameter(), ir::const_true(8), {}))));
  ASSERT_EQ(result.branches, 1);
  EXPECT_TRUE(ir::equal(result.taken.as<ir::Store>()->value, ir::Sub::make(y, y)));
}

TEST(UnswitchGuards, MakesNoBranchOfAConstant) {
  const Expr constant = ir::Not::make(ir::const_false());
  EXPECT_EQ(Selects(unswitch_guards(loop("c", add_vector_if(constant, 0)))).branches, 0);
}

TEST(UnswitchGuards, DecidesTogetherWhatGuardsSomeVectors) {
  const Expr p = variable("c") < variable("p"), q = variable("c") < variable("q");
  const auto body = ir::Block::make(add_vector_if(p, 0), add_vector_if(q, 8));
  const auto result = unswitch_guards(loop("c", body));
  const auto* branch = result.as<ir::For>()->body.as<ir::IfThenElse>();
  ASSERT_TRUE(branch);
  EXPECT_TRUE(ir::equal(branch->condition, p && q));
  EXPECT_TRUE(ir::equal(branch->else_case, body)) << "each lane asks for itself where one does not hold";
  const auto asks = [&](const Expr& condition) {
    std::ostringstream text, where;
    text << branch->then_case;
    where << condition;
    return text.str().find(where.str()) != std::string::npos;
  };
  EXPECT_FALSE(asks(p));
  EXPECT_FALSE(asks(q));
  EXPECT_EQ(Selects(branch->then_case).count, 2) << "of lanes";
}

}  // namespace
}  // namespace tc::cpu::unswitch_guards_test
