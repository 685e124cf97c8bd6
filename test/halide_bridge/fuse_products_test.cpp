#include "tc/halide_bridge/math/fuse_products.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tc/halide_bridge/stmt/strict.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

class FuseProducts : public testing::Test {
 protected:
  const Expr a = ir::Variable::make(Halide::Float(32), "a"), b = ir::Variable::make(Halide::Float(32), "b"),
             c = ir::Variable::make(Halide::Float(32), "c"), i = ir::Variable::make(Halide::Int(32), "i"),
             half = ir::Variable::make(Halide::Float(16), "h");

  static std::string text(const ir::Stmt& statement) {
    std::ostringstream out;
    out << statement;
    return out.str();
  }
  static void expect_fused(const Expr& value, const Expr& want) {
    EXPECT_EQ(text(fuse_products(ir::Evaluate::make(value))), text(ir::Evaluate::make(want)));
  }
  static Expr call(const Expr& x, const Expr& y, const Expr& sum) {
    return ir::Call::make(Halide::Float(32), "tc_fma_f32", {x, y, sum}, ir::Call::PureExtern);
  }
  static Expr negative(const Expr& x) { return ir::Mul::make(x, ir::make_const(x.type(), -1)); }
};

TEST_F(FuseProducts, RoundsAProductWithItsSum) {
  expect_fused(ir::Add::make(c, ir::Mul::make(a, b)), call(a, b, c));
  expect_fused(ir::Add::make(strict(ir::Mul::make(a, b)), c), call(a, b, c));
  expect_fused(ir::Sub::make(c, ir::Mul::make(a, b)), call(negative(a), b, c));
  expect_fused(ir::Sub::make(ir::Mul::make(a, b), c), call(a, b, negative(c)));
}

TEST_F(FuseProducts, OfTwoProductsTakesTheSecond) {
  expect_fused(ir::Add::make(ir::Mul::make(a, b), ir::Mul::make(b, c)), call(b, c, ir::Mul::make(a, b)));
}

TEST_F(FuseProducts, LeavesIntegersAndHalvesAlone) {
  for (const auto& x : {i, half})
    expect_fused(ir::Add::make(x, ir::Mul::make(x, x)), ir::Add::make(x, ir::Mul::make(x, x)));
}

}  // namespace
}  // namespace tc::halide_bridge
