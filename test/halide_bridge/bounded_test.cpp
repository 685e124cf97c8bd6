#include "tc/halide_bridge/stmt/bounded.h"

#include <gtest/gtest.h>

#include <sstream>

namespace tc::halide_bridge {
namespace {

using Halide::Int;
namespace ir = Halide::Internal;

const std::int64_t int32_high = std::numeric_limits<std::int32_t>::max();
const std::int64_t int64_high = std::numeric_limits<std::int64_t>::max();

Bounded variable(std::int64_t low, std::int64_t high) { return within(ir::Variable::make(Int(64), "x"), low, high); }

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a % b < 0) != (b < 0)); }

struct Operation {
  const char* name;
  Bounded (*bounded)(const Bounded&, const Bounded&);
  std::int64_t (*exact)(std::int64_t, std::int64_t);
  bool positive_divisor;
};
const Operation operations[] = {
    {"+", add, [](std::int64_t a, std::int64_t b) { return a + b; }, false},
    {"-", subtract, [](std::int64_t a, std::int64_t b) { return a - b; }, false},
    {"*", multiply, [](std::int64_t a, std::int64_t b) { return a * b; }, false},
    {"/", divide, floor_quotient, true},
    {"%", modulo, [](std::int64_t a, std::int64_t b) { return a - b * floor_quotient(a, b); }, true},
    {"min", minimum, [](std::int64_t a, std::int64_t b) { return std::min(a, b); }, false},
    {"max", maximum, [](std::int64_t a, std::int64_t b) { return std::max(a, b); }, false},
};

TEST(BoundedTest, IntervalsHoldEveryResult) {
  for (const auto& op : operations)
    for (int a = -4; a <= 3; ++a)
      for (int c = a; c <= 4; ++c)
        for (int b = op.positive_divisor ? 1 : -4; b <= 3; ++b)
          for (int d = b; d <= 4; ++d) {
            Bounded result = op.bounded(variable(a, c), variable(b, d));
            for (int x = a; x <= c; ++x)
              for (int y = b; y <= d; ++y) {
                std::int64_t exact = op.exact(x, y);
                ASSERT_TRUE(result.low <= exact && exact <= result.high)
                    << x << ' ' << op.name << ' ' << y << " = " << exact << " is outside [" << result.low << ", "
                    << result.high << "]";
              }
            EXPECT_EQ(result.expr.type(), Int(32)) << op.name;
          }
}

TEST(BoundedTest, WidthFollowsTheInterval) {
  EXPECT_EQ(variable(0, int32_high).expr.type(), Int(32));
  EXPECT_EQ(variable(0, int32_high + 1).expr.type(), Int(64));
  EXPECT_EQ(add(variable(0, int32_high - 1), variable(0, 1)).expr.type(), Int(32));
  EXPECT_EQ(add(variable(0, int32_high), variable(0, 1)).expr.type(), Int(64));
  EXPECT_EQ(multiply(variable(0, 1 << 16), variable(0, 1 << 16)).expr.type(), Int(64));
  EXPECT_EQ(subtract(variable(0, int32_high + 1), variable(0, 0)).expr.type(), Int(64));
}

TEST(BoundedTest, WhatMayOverflow64BitsWraps) {
  std::ostringstream text;
  Bounded sum = add(unknown(ir::Variable::make(Int(64), "x")), variable(0, 1));
  text << sum.expr;
  EXPECT_NE(text.str().find("uint64"), std::string::npos) << text.str();
  EXPECT_EQ(sum.high, int64_high);
}

TEST(BoundedTest, LanesAreMatched) {
  Bounded lanes{ir::Ramp::make(0, 1, 8), 0, 7};
  EXPECT_EQ(add(lanes, variable(0, 5)).expr.type(), Int(32, 8));
  EXPECT_EQ(multiply(variable(0, std::int64_t{1} << 40), lanes).expr.type(), Int(64, 8));
}

}  // namespace
}  // namespace tc::halide_bridge
