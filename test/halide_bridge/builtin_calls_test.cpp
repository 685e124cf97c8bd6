#include "tc/halide_bridge/lower/builtin_calls.h"

#include <gtest/gtest.h>

#include "tc/base/str.h"
#include "tc/lang/syntax/builtins.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

Expr real(const std::string& name, int bits = 32) { return ir::Variable::make(Halide::Float(bits), name); }

TEST(BuiltinCalls, EveryFloatFunctionHasACall) {
  for (const auto& builtin : lang::builtins()) {
    if (builtin.kind == lang::BuiltinKind::Integer || builtin.kind == lang::BuiltinKind::Choice) continue;
    for (const int bits : {32, 64}) {
      const std::vector<Expr> arguments(static_cast<std::size_t>(builtin.arity), real("x", bits));
      const Expr call = float_call(std::string(builtin.name), arguments);
      EXPECT_EQ(call.type(), builtin.kind == lang::BuiltinKind::Predicate ? Halide::Bool() : Halide::Float(bits))
          << builtin.name;
    }
  }
}

TEST(BuiltinCalls, NegationOfFloatComparisonsSurvivesTheSimplifier) {
  const Expr less = ir::LT::make(real("x"), real("y"));
  EXPECT_EQ(str(ir::simplify(Halide::strict_float(ir::Not::make(less)))),
            "(uint1)strict_float((float32)y <= (float32)x)")
      << "Halide learnt NaN: negation() can go";
  const Expr kept = ir::simplify(Halide::strict_float(negation(less)));
  EXPECT_NE(str(kept).find("bitwise_xor((float32)x < (float32)y"), std::string::npos) << kept;
  const Expr i = ir::Variable::make(Halide::Int(64), "i");
  EXPECT_TRUE(negation(ir::LT::make(i, ir::make_zero(i.type()))).as<ir::Not>());
}

TEST(BuiltinCalls, TruncationSaturates) {
  struct Case {
    Halide::Type type;
    double value;
    std::int64_t result;
  };
  const Case cases[] = {
      {Halide::Int(32), 3.75, 3},          {Halide::Int(32), -3.75, -3},
      {Halide::Int(32), 1e10, 2147483647}, {Halide::Int(32), -1e10, -2147483648LL},
      {Halide::Int(8), 127.5, 127},        {Halide::Int(8), 128, 127},
      {Halide::Int(8), -128.5, -128},      {Halide::UInt(8), -1, 0},
      {Halide::UInt(8), 255.5, 255},       {Halide::UInt(8), 300, 255},
      {Halide::Int(64), -1e30, INT64_MIN}, {Halide::Int(64), 1e30, INT64_MAX},
  };
  for (const auto& test : cases) {
    const Expr value = ir::simplify(truncate_float(ir::make_const(Halide::Float(32), test.value), test.type));
    EXPECT_TRUE(ir::is_const(value)) << value;
    EXPECT_EQ(test.type.is_int() ? *ir::as_const_int(value) : static_cast<std::int64_t>(*ir::as_const_uint(value)),
              test.result)
        << test.value << ' ' << test.type;
  }
}

}  // namespace
}  // namespace tc::halide_bridge
