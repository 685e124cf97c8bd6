#include "tc/halide_bridge/lower/integer_arithmetic.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "tc/base/str.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using Halide::Type;

Integer variable(Type type, const std::string& name, Bounds bounds) { return {ir::Variable::make(type, name), bounds}; }
Integer unknown(Type type, const std::string& name) { return variable(type, name, bounds_of(type)); }

/// The value of \p expr for a and b.
__int128 evaluate(const Expr& expr, const Expr& a, const Expr& b) {
  const Expr value = ir::simplify(ir::substitute({{"a", a}, {"b", b}}, expr));
  if (const auto* number = value.as<ir::IntImm>()) return number->value;
  if (const auto* number = value.as<ir::UIntImm>()) return number->value;
  ADD_FAILURE() << expr << " is " << value << " for " << a << " and " << b;
  return 0;
}

__int128 wrapped(Type type, __int128 value) {
  const Bounds all = bounds_of(type);
  const __int128 count = all.high - all.low + 1;
  const __int128 rest = (value - all.low) % count;
  return all.low + (rest < 0 ? rest + count : rest);
}

__int128 floor_of(__int128 a, __int128 b) {
  if (b == 0) return 0;
  const __int128 quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

struct Operation {
  const char* name;
  Integer (*build)(const Integer&, const Integer&);
  std::function<__int128(__int128, __int128)> exact;
};

const Operation operations[] = {
    {"add", add, [](auto a, auto b) { return a + b; }},
    {"subtract", subtract, [](auto a, auto b) { return a - b; }},
    {"multiply", multiply, [](auto a, auto b) { return a * b; }},
    {"floor_div", floor_div, floor_of},
    {"floor_mod", floor_mod, [](auto a, auto b) { return b == 0 ? 0 : a - b * floor_of(a, b); }},
    {"minimum", minimum, [](auto a, auto b) { return std::min(a, b); }},
    {"maximum", maximum, [](auto a, auto b) { return std::max(a, b); }},
};

std::vector<__int128> samples(Type type) {
  const Bounds all = bounds_of(type);
  std::vector<__int128> result;
  for (const int value : {-8, -7, -3, -2, -1, 0, 1, 2, 3, 7, 8}) {
    if (all.low <= value) result.push_back(value);
  }
  result.insert(result.end(), {all.low, all.low + 1, all.high - 1, all.high});
  return result;
}

/// Constants that Halide's simplifier, which evaluates the result here, takes for overflow or traps on itself.
bool beyond_the_simplifier(Type type, const Operation& operation, __int128 a, __int128 b) {
  const bool divides = operation.build == floor_div || operation.build == floor_mod;
  const bool lowest = type.bits() == 64 && a == bounds_of(type).low;
  return divides && type.is_int() && (lowest || b > 8 || b < -8);
}

TEST(IntegerArithmetic, AgreesWithTheLanguageForAllTypes) {
  for (const Type type : {Halide::Int(8), Halide::Int(32), Halide::Int(64), Halide::UInt(8), Halide::UInt(32)}) {
    for (const auto& operation : operations) {
      const Integer result = operation.build(unknown(type, "a"), unknown(type, "b"));
      for (const __int128 a : samples(type)) {
        for (const __int128 b : samples(type)) {
          if (beyond_the_simplifier(type, operation, a, b)) continue;
          const __int128 value = evaluate(result.expr, constant(type, a).expr, constant(type, b).expr);
          EXPECT_EQ(value, wrapped(type, operation.exact(a, b)))
              << operation.name << ' ' << type << ' ' << constant(type, a).expr << ' ' << constant(type, b).expr;
          EXPECT_TRUE(result.bounds.contains({value, value}));
        }
      }
    }
  }
}

TEST(IntegerArithmetic, BoundsContainEveryValue) {
  const Type type = Halide::Int(64);
  const std::vector<Bounds> ranges = {{-3, 5}, {0, 4}, {1, 3}, {-4, -1}, {2, 2}, {-2, 0}};
  for (const auto& operation : operations) {
    for (const Bounds& first : ranges) {
      for (const Bounds& second : ranges) {
        const Integer result = operation.build(variable(type, "a", first), variable(type, "b", second));
        for (__int128 a = first.low; a <= first.high; ++a) {
          for (__int128 b = second.low; b <= second.high; ++b) {
            const __int128 value = operation.exact(a, b);
            EXPECT_TRUE(result.bounds.contains({value, value})) << operation.name;
            EXPECT_EQ(evaluate(result.expr, constant(type, a).expr, constant(type, b).expr), value) << operation.name;
          }
        }
      }
    }
  }
}

TEST(IntegerArithmetic, WrapsOnlyWhereItMay) {
  const Type type = Halide::Int(32);
  const Integer small = variable(type, "a", {0, 1000}), any = unknown(type, "b");
  EXPECT_EQ(str(add(small, constant(type, 1)).expr), "(a + 1)");
  EXPECT_EQ(str(multiply(small, small).expr), "(a*a)");
  EXPECT_EQ(str(add(small, any).expr), "reinterpret(uint32(a) + uint32(b))");
  EXPECT_EQ(str(floor_div(any, constant(type, 3)).expr), "(b/3)");
  EXPECT_EQ(str(floor_mod(any, variable(type, "a", {1, 1000})).expr), "(b % a)");
  EXPECT_EQ(str(floor_div(any, constant(type, 0)).expr), "0");
  EXPECT_EQ(str(absolute(small).expr), "a");
  EXPECT_EQ(str(absolute(variable(type, "a", {-9, 9})).expr),
            "(let x.whole = a in select(x.whole < 0, 0 - x.whole, x.whole))");
}

TEST(IntegerArithmetic, ConstantsFold) {
  const Type type = Halide::Int(64);
  const auto seven = constant(type, 7), minus_two = constant(type, -2);
  EXPECT_EQ(str(floor_div(seven, minus_two).expr), "(int64)-4");
  EXPECT_EQ(str(floor_mod(seven, minus_two).expr), "(int64)-1");
  EXPECT_EQ(str(floor_div(seven, constant(type, 0)).expr), "(int64)0");
  EXPECT_EQ(str(subtract(seven, minus_two).expr), "(int64)9");
  EXPECT_EQ(str(convert(constant(type, 300), Halide::UInt(8)).expr), "(uint8)44");
}

TEST(IntegerArithmetic, ConversionsKeepBoundsThatFit) {
  const Integer small = variable(Halide::Int(64), "a", {-5, 100});
  EXPECT_EQ(static_cast<int>(convert(small, Halide::Int(8)).bounds.low), -5);
  EXPECT_EQ(static_cast<int>(convert(small, Halide::UInt(8)).bounds.high), 255);
  EXPECT_EQ(static_cast<int>(absolute(small).bounds.high), 100);
  EXPECT_EQ(static_cast<int>(negate(small).bounds.low), -100);
}

}  // namespace
}  // namespace tc::halide_bridge
