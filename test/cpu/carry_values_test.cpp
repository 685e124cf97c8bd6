#include "tc/cpu/stmt/carry_values.h"

#include <gtest/gtest.h>

#include "test/cpu/halide_statements.h"

namespace tc::cpu::carry_values_test {
namespace {

using Halide::Expr;
namespace ir = Halide::Internal;
using ir::Stmt;

/// for t in 1:11: H[at] = value
Stmt steps(const Expr& at, const Expr& value, ir::ForType type = ir::ForType::Serial) {
  return ir::For::make("t", 1, 10, type, Halide::DeviceAPI::None, store("H", at, value));
}

/// Loads of H inside of loops, allocations, and whether H is loaded before loops at a number, as LLVM's generator needs it.
class Found : public ir::IRVisitor {
 public:
  explicit Found(const Stmt& stmt) { stmt.accept(this); }
  int loads = 0, allocations = 0;
  bool begins_at_number = false;

 private:
  using ir::IRVisitor::visit;
  void visit(const ir::For* op) override {
    ++depth_;
    ir::IRVisitor::visit(op);
    --depth_;
  }
  void visit(const ir::Load* op) override {
    loads += op->name == "H" && depth_ > 0;
    begins_at_number = begins_at_number || (op->name == "H" && depth_ == 0 && ir::is_const(op->index));
    ir::IRVisitor::visit(op);
  }
  void visit(const ir::Allocate* op) override {
    ++allocations;
    ir::IRVisitor::visit(op);
  }
  int depth_ = 0;
};

TEST(CarryValues, WhatTheIterationBeforeStoredIsInARegister) {
  const Expr t = variable("t");
  for (const Expr& at : {t, 3 * t + 5, 20 - t}) {
    const Expr before = ir::simplify(ir::substitute("t", t - 1, at));
    const Found found(carry_values(steps(at, load_int("H", before) + load_int("X", t))));
    EXPECT_EQ(found.allocations, 1);
    EXPECT_EQ(found.loads, 0);
    EXPECT_TRUE(found.begins_at_number);
  }
}

TEST(CarryValues, OtherReadsStay) {
  const Expr t = variable("t");
  EXPECT_EQ(Found(carry_values(steps(t, load_int("H", t - 2)))).allocations, 0) << "two iterations back";
  EXPECT_EQ(Found(carry_values(steps(7, load_int("H", 7) + load_int("X", t)))).allocations, 0) << "a sum at one place";
  EXPECT_EQ(Found(carry_values(steps(t, load_int("H", t - 1), ir::ForType::Parallel))).allocations, 0);
  EXPECT_EQ(Found(carry_values(steps(t, value_if(t > 3, load_int("H", t - 1))))).allocations, 0)
      << "not in every iteration";
}

}  // namespace
}  // namespace tc::cpu::carry_values_test
