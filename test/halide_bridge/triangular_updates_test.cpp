#include "tc/halide_bridge/rewrite/triangular_updates.h"

#include <gtest/gtest.h>

#include "tc/halide_bridge/lower/iterator_order.h"
#include "test/halide_bridge/lower_fixture.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;

const lang::SizeMap triangle_sizes{{"N", 40}, {"M", 4}};

/// The last statement of a def that writes S(i,m), after the pass.
ProgramStatement update_of(const std::string& value) {
  const auto text =
      "def f(float(N) X, float(N,M) Y, bool(N) B) -> (S) { S(i,m) " + value + " where i in 0:N, m in 0:M }";
  return triangular_updates(lowered(text, triangle_sizes)).launches.at(0).statements.back();
}
/// How many of its conditions the pass moves from its value to its instances.
std::size_t conditions_of_value(const std::string& value) { return update_of(value).conditions.size(); }
/// Is a condition left in its value?
bool asks(const std::string& value) {
  struct Asks : ir::IRVisitor {
    using ir::IRVisitor::visit;
    bool found = false;
    void visit(const ir::Call* op) override {
      found = found || op->is_intrinsic(ir::Call::if_then_else);
      ir::IRVisitor::visit(op);
    }
    void visit(const ir::Select* op) override {
      found = true;
      ir::IRVisitor::visit(op);
    }
  } visitor;
  update_of(value).value.accept(&visitor);
  return visitor.found;
}

TEST(TriangularUpdates, OrdersOfIteratorsBecomeInstances) {
  EXPECT_EQ(conditions_of_value("+=! k <= i ? X(k) * i : 0"), 1U);
  EXPECT_EQ(conditions_of_value("max=! k < i + 2 ? X(k) : -inf"), 1U);
  EXPECT_EQ(conditions_of_value("+=! k <= i && k >= i - 3 ? X(k) : 0"), 1U) << "an inner loop begins at 0";
  EXPECT_EQ(conditions_of_value("*=! k <= i && B(k) ? X(k) : 1"), 1U);
  EXPECT_FALSE(asks("+=! k <= i ? X(k) * i : 0"));
  EXPECT_TRUE(asks("*=! k <= i && B(k) ? X(k) : 1"));
}

TEST(TriangularUpdates, OthersStay) {
  EXPECT_EQ(conditions_of_value("+=! k <= i ? X(k) : 1"), 0U) << "1 is no identity";
  EXPECT_EQ(conditions_of_value("+=! k + i < N ? X(k) : 0"), 0U) << "no order";
  EXPECT_EQ(conditions_of_value("+=! k <= 2 * i ? X(k) : 0"), 0U);
  EXPECT_EQ(conditions_of_value("+=! k >= 2 ? X(k) : 0"), 0U) << "one iterator";
  EXPECT_EQ(conditions_of_value("+=! k >= i ? X(k) : 0"), 0U) << "an inner loop that begins anywhere";
  EXPECT_EQ(conditions_of_value("+=! k <= i ? X(k) * X(i) : 0"), 0U) << "lanes may run along i";
  EXPECT_EQ(conditions_of_value("+=! k <= i ? Y(i,k) : 0"), 0U) << "a window";
  EXPECT_TRUE(asks("+=! k + i < N ? X(k) : 0"));
}

TEST(TriangularUpdates, OrdersAreReadFromAllComparisons) {
  const auto i = ir::Variable::make(Halide::Int(64), "i"), k = ir::Variable::make(Halide::Int(64), "k");
  const auto two = ir::make_const(Halide::Int(64), 2);
  const auto expect = [](const Halide::Expr& condition, const std::string& smaller, std::int64_t offset) {
    const auto order = iterator_order(condition);
    ASSERT_TRUE(order);
    EXPECT_EQ(order->smaller, smaller);
    EXPECT_EQ(order->offset, offset);
  };
  expect(ir::LE::make(k, i), "k", 0);
  expect(ir::LT::make(k, i), "k", -1);
  expect(ir::GE::make(k, ir::Sub::make(i, two)), "i", 2);
  expect(ir::GT::make(ir::Add::make(two, k), i), "i", 1);
  EXPECT_FALSE(iterator_order(ir::EQ::make(k, i)));
  EXPECT_FALSE(iterator_order(ir::LE::make(ir::Add::make(k, i), two)));
}

}  // namespace
}  // namespace tc::halide_bridge
