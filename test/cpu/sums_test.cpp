#include "tc/cpu/stmt/sums.h"

#include <gtest/gtest.h>

namespace tc::cpu {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

Expr load(const std::string& name, int place) {
  return ir::Load::make(Halide::Float(32), name, place, Halide::Buffer<>(), ir::Parameter(), ir::const_true(), {});
}
Expr strict(const Expr& e) { return ir::Call::make(e.type(), ir::Call::strict_float, {e}, ir::Call::PureIntrinsic); }

Expr added(const Expr& value) {
  const auto store = ir::Store::make("acc", value, 0, ir::Parameter(), ir::const_true(), {});
  return added_to(*store.as<ir::Store>());
}

TEST(Sums, AreOfTheElementThatIsWritten) {
  EXPECT_TRUE(ir::equal(added(strict(strict(load("acc", 0)) + load("X", 1))), load("X", 1)));
  for (const Expr& other : {load("acc", 1) + load("X", 1), load("X", 0) + load("X", 1), load("acc", 0) * load("X", 1)})
    EXPECT_FALSE(added(other).defined()) << other;
  EXPECT_TRUE(ir::equal(without_strict(strict(load("X", 0))), load("X", 0)));
}

TEST(Sums, OfZeroChangeNothing) {
  for (const double zero : {0.0, -0.0})
    EXPECT_TRUE(is_zero(ir::Broadcast::make(ir::FloatImm::make(Halide::Float(32), zero), 8)));
  EXPECT_FALSE(is_zero(ir::FloatImm::make(Halide::Float(32), 1)));
  EXPECT_FALSE(is_zero(load("X", 0)));
}

}  // namespace
}  // namespace tc::cpu
