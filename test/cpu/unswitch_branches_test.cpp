#include "tc/cpu/guards/unswitch_branches.h"

#include <gtest/gtest.h>

#include "test/cpu/halide_statements.h"

namespace tc::cpu::unswitch_branches_test {
namespace {

using Halide::Expr;
namespace ir = Halide::Internal;
using ir::Stmt;

/// if (condition) acc[place] = acc[place] + X[k]
Stmt add_if(const Expr& condition, int place) {
  const auto sum = store("acc", place, load_int("acc", place) + load_int("X", variable("k")));
  return condition.defined() ? ir::IfThenElse::make(condition, sum) : sum;
}

/// "loops of 3, 2, 1 stores; 3 branches": the loops that do something, in order, and all branches.
class Shape : public ir::IRVisitor {
 public:
  explicit Shape(const Stmt& stmt) { stmt.accept(this); }
  std::string text() const { return "loops of " + loops_ + "stores; " + std::to_string(branches_) + " branches"; }

 private:
  using ir::IRVisitor::visit;
  void visit(const ir::For* op) override {
    stores_ = 0;
    ir::IRVisitor::visit(op);
    loops_ += std::to_string(stores_) + " ";
  }
  void visit(const ir::IfThenElse* op) override {
    ++branches_;
    ir::IRVisitor::visit(op);
  }
  void visit(const ir::Store*) override { ++stores_; }
  std::string loops_;
  int branches_ = 0, stores_ = 0;
};

std::string shape(const std::vector<Stmt>& body) {
  return Shape(unswitch_branches(loop("k", 10, ir::Block::make(body)))).text();
}

/// Each row follows from the rows behind it: as many cases as rows, and one without any.
TEST(UnswitchBranches, RowsOfAPartialTileHaveALoopForEachNumberOfThem) {
  const Expr rows = variable("B") % 4;
  const std::vector<Stmt> body{add_if(rows != 0, 0), add_if(2 <= rows, 1), add_if(rows == 3, 2)};
  EXPECT_EQ(shape(body), "loops of 3 2 1 stores; 3 branches");
  EXPECT_EQ(shape({add_if({}, 0), add_if(2 <= rows, 1)}), "loops of 2 1 stores; 1 branches");
}

TEST(UnswitchBranches, ElseCasesStay) {
  const auto either =
      ir::IfThenElse::make(variable("B") < 5, add_if({}, 0), ir::Block::make(add_if({}, 1), add_if({}, 2)));
  EXPECT_EQ(shape({either}), "loops of 1 2 stores; 1 branches");
}

/// Equal to a number that is not the largest remainder, or the least: no order.
TEST(UnswitchBranches, OtherEqualitiesAreDecidedOneByOne) {
  const Expr rows = variable("B") % 4;
  EXPECT_EQ(shape({add_if(rows == 2, 0), add_if(rows == 1, 1)}), "loops of 2 1 1 stores; 3 branches");
}

TEST(UnswitchBranches, ConditionsThatTheLoopChangesStay) {
  EXPECT_EQ(shape({add_if(variable("k") < variable("B"), 0)}), "loops of 1 stores; 1 branches");
  EXPECT_EQ(shape({add_if(load_int("P", 0) < 3, 0)}), "loops of 1 stores; 1 branches");
}

TEST(UnswitchBranches, LoopsAroundLoopsAndTooManyCasesStay) {
  const auto inner = loop("k", 10, add_if({}, 0));
  const auto outer = loop("j", 10, ir::IfThenElse::make(variable("B") < 5, inner));
  EXPECT_EQ(Shape(unswitch_branches(outer)).text(), Shape(outer).text());
  std::vector<Stmt> body;
  for (const char* name : {"a", "b", "c", "d", "e"})
    body.push_back(add_if(variable(name) < 5, static_cast<int>(body.size())));
  EXPECT_EQ(shape(body), "loops of 5 stores; 5 branches");
}

}  // namespace
}  // namespace tc::cpu::unswitch_branches_test
