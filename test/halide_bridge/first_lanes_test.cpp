#include "tc/halide_bridge/stmt/first_lanes.h"

#include <gtest/gtest.h>

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

Expr lanes(int first, int apart) { return ir::Ramp::make(first, apart, 8); }

TEST(FirstLanes, KnowsThePredicateOfAPartialVector) {
  Expr n = ir::Variable::make(Halide::Int(32), "n");
  Expr last = last_running_lane(ir::LE::make(lanes(0, 1), ir::Broadcast::make(n, 8)));
  ASSERT_TRUE(last.defined());
  EXPECT_TRUE(ir::equal(last, n));
}

TEST(FirstLanes, KnowsNoOther) {
  Expr n = ir::Variable::make(Halide::Int(32), "n"), all = ir::Broadcast::make(n, 8);
  Expr partial = ir::LE::make(lanes(0, 1), all);
  for (const Expr& other : {ir::LE::make(lanes(1, 1), all), ir::LE::make(lanes(0, 2), all),
                            ir::LT::make(lanes(0, 1), all), ir::LE::make(all, lanes(0, 1)),
                            ir::LE::make(lanes(0, 1), lanes(2, 0)), ir::And::make(partial, partial), ir::const_true(8)})
    EXPECT_FALSE(last_running_lane(other).defined()) << other;
}

}  // namespace
}  // namespace tc::halide_bridge
