#include "tc/cpu/stmt/peel_recurrences.h"

#include <gtest/gtest.h>

#include <vector>

#include "test/cpu/halide_statements.h"

namespace tc::cpu::peel_recurrences_test {
namespace {

using Halide::Expr;
namespace ir = Halide::Internal;
using ir::Stmt;

/// for t in 0:10: H[t] = first <= t ? read[t - first] : 0
Stmt recurrence(int first, const std::string& read = "H", ir::ForType type = ir::ForType::Serial) {
  const Expr t = variable("t");
  const Stmt body = store("H", t, value_if(Expr(first) <= t, load_int(read, t - first)));
  return ir::For::make("t", 0, 10, type, Halide::DeviceAPI::None, body);
}

/// The loops of a statement in order, and how many conditions stand in each.
class Loops : public ir::IRVisitor {
 public:
  explicit Loops(const Stmt& stmt) { stmt.accept(this); }
  std::vector<std::int64_t> mins, extents, conditions;

 private:
  using ir::IRVisitor::visit;
  void visit(const ir::For* op) override {
    mins.push_back(*ir::as_const_int(op->min));
    extents.push_back(*ir::as_const_int(op->extent));
    conditions.push_back(0);
    ir::IRVisitor::visit(op);
  }
  void visit(const ir::Call* op) override {
    if (op->is_intrinsic(ir::Call::if_then_else)) ++conditions.back();
    ir::IRVisitor::visit(op);
  }
};

using Int64s = std::vector<std::int64_t>;

TEST(PeelRecurrences, TheFirstIterationsStandApart) {
  const Loops loops(peel_recurrences(recurrence(2)));
  EXPECT_EQ(loops.mins, (Int64s{0, 2}));
  EXPECT_EQ(loops.extents, (Int64s{2, 8}));
  EXPECT_EQ(loops.conditions, (Int64s{0, 0}));
}

TEST(PeelRecurrences, OtherLoopsStayAsTheyAre) {
  EXPECT_EQ(Loops(peel_recurrences(recurrence(1, "X"))).mins, Int64s{0}) << "nothing is carried";
  EXPECT_EQ(Loops(peel_recurrences(recurrence(1, "H", ir::ForType::Parallel))).mins, Int64s{0});
  EXPECT_EQ(Loops(peel_recurrences(recurrence(9))).mins, Int64s{0}) << "too many iterations would stand apart";
}

}  // namespace
}  // namespace tc::cpu::peel_recurrences_test
