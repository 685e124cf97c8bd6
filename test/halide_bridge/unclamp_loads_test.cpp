#include "tc/halide_bridge/stmt/unclamp_loads.h"

#include <gtest/gtest.h>

#include <sstream>

namespace tc::halide_bridge::unclamp_loads_test {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

Expr a() { return ir::Variable::make(Halide::Int(32), "a"); }
Expr ramp(const Expr& base, int step = 1) { return ir::Ramp::make(base, step, 8); }
Expr all(const Expr& value) { return ir::Broadcast::make(value, 8); }

/// The load at \p index, after the pass.
std::string at(const Expr& index) {
  const Expr load = ir::Load::make(Halide::Float(32, 8), "A", index, Halide::Buffer<>(), ir::Parameter(),
                                   ir::const_true(8), ir::ModulusRemainder());
  std::ostringstream text;
  text << unclamp_loads(ir::Evaluate::make(load)).as<ir::Evaluate>()->value;
  return text.str();
}

TEST(UnclampLoads, AreContiguousWhereNoLaneIsClamped) {
  const Expr index = ir::Select::make(ir::EQ::make(ramp(a()), all(0)), all(3), ramp(a() - 1)) + all(64);
  EXPECT_EQ(at(index),
            "(float32x8)if_then_else((a <= 0) && (-7 <= a), (float32x8)A[select(ramp(a, 1, 8) == x8(0), x8(3), ramp(a "
            "- 1, 1, 8)) + x8(64)], (float32x8)A[ramp(a + 63, 1, 8)])");
}

TEST(UnclampLoads, KnowTheSideThatIsUsual) {
  const Expr before = ir::LT::make(ramp(a()), all(5));
  EXPECT_NE(at(ir::Select::make(before, all(4), ramp(a()))).find("if_then_else(a < 5,"), std::string::npos);
  EXPECT_NE(at(ir::Select::make(before, ramp(a()), all(4))).find("if_then_else(-2 <= a,"), std::string::npos);
}

TEST(UnclampLoads, KnowMinimaAndMaxima) {
  const std::string text = at(ir::Min::make(ir::Max::make(ramp(a()), all(0)), all(63)));
  EXPECT_NE(text.find("A[ramp(a, 1, 8)])"), std::string::npos) << text;
  EXPECT_NE(text.find("(56 < a)"), std::string::npos) << text;
  EXPECT_NE(text.find("(a < 0)"), std::string::npos) << text;
}

TEST(UnclampLoads, OthersStay) {
  const Expr data = ir::Load::make(Halide::Int(32, 8), "I", ramp(0), Halide::Buffer<>(), ir::Parameter(),
                                   ir::const_true(8), ir::ModulusRemainder());
  for (const Expr& index : {ramp(a()), Expr(ir::Min::make(data, all(9))),
                            Expr(ir::Select::make(ir::EQ::make(data, all(0)), all(3), ramp(a()))),
                            Expr(ir::Select::make(ir::EQ::make(ramp(a()), all(0)), all(3), ramp(a(), 2)))})
    EXPECT_EQ(at(index).find("if_then_else"), std::string::npos) << index;
}

}  // namespace
}  // namespace tc::halide_bridge::unclamp_loads_test
