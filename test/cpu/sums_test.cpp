#include "tc/cpu/stmt/sums.h"

#include <gtest/gtest.h>

#include "tc/halide_bridge/stmt/strict.h"

namespace tc::cpu::sums_test {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

Expr load(const std::string& name, int place) {
  return ir::Load::make(Halide::Float(32), name, place, Halide::Buffer<>(), ir::Parameter(), ir::const_true(), {});
}

Expr added(const Expr& value) {
  const auto store = ir::Store::make("acc", value, 0, ir::Parameter(), ir::const_true(), {});
  return added_to(*store.as<ir::Store>());
}

TEST(Sums, AreOfTheElementThatIsWritten) {
  EXPECT_TRUE(
      ir::equal(added(halide_bridge::strict(halide_bridge::strict(load("acc", 0)) + load("X", 1))), load("X", 1)));
  for (const Expr& other : {load("acc", 1) + load("X", 1), load("X", 0) + load("X", 1), load("acc", 0) * load("X", 1)})
    EXPECT_FALSE(added(other).defined()) << other;
}

}  // namespace
}  // namespace tc::cpu::sums_test
