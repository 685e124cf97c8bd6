#include <gtest/gtest.h>

#include <sstream>

#include "tc/halide_bridge/math/vector_math.h"
#include "test/halide_bridge/lower_fixture.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

/// The exponent of the call of pow that \p text lowers to.
Expr exponent_of(const std::string& text) {
  struct Finder : ir::IRVisitor {
    using IRVisitor::visit;
    Expr exponent;
    void visit(const ir::Call* op) override {
      if (op->name.starts_with("tc_pow")) exponent = op->args[1];
      IRVisitor::visit(op);
    }
  } finder;
  lowered(text, {{"N", 4}}).launches.at(0).statements.at(0).value.accept(&finder);
  return finder.exponent;
}

/// How long the text is of what x^exponent expands to.
std::size_t length_of_power(const Expr& exponent) {
  const Expr x = ir::Variable::make(exponent.type(), "x");
  std::ostringstream text;
  text << ir::simplify(*expand_math(exponent.type().bits() == 64 ? "tc_pow_f64" : "tc_pow_f32", {x, exponent}));
  return text.str().size();
}

/// The same where nothing is known of the exponent.
std::size_t length_of_general_power(Halide::Type type) { return length_of_power(ir::Variable::make(type, "y")); }

/// However a text writes a number, a power by it is made of products and roots.
TEST(ConstantPower, IsMadeOfProductsForEveryTextOfItsExponent) {
  const std::vector<std::pair<const char*, double>> exponents = {{"2", 2},
                                                                 {"-0.5", -0.5},
                                                                 {"-1", -1},
                                                                 {"-2", -2},
                                                                 {"-1.5", -1.5},
                                                                 {"-(0.5)", -0.5},
                                                                 {"0 - 0.5", -0.5},
                                                                 {"-1.0 / 2", -0.5},
                                                                 {"-3 / 2.0", -1.5},
                                                                 {"float(-2)", -2},
                                                                 {"- -0.5", 0.5},
                                                                 {"-float(2)", -2},
                                                                 {"float(-0.5)", -0.5},
                                                                 {"-0.0", 0},
                                                                 {"2 - 2.5", -0.5}};
  for (const std::string type : {"float", "double", "half", "bfloat16"})
    for (const auto& [written, number] : exponents) {
      SCOPED_TRACE(type + " " + written);
      const Expr exponent = exponent_of("def f(" + type + "(N) A) -> (O) { O(i) = pow(A(i), " + written + ") }");
      ASSERT_TRUE(exponent.defined());
      const Expr folded = ir::simplify(exponent);
      ASSERT_NE(ir::as_const_float(folded), nullptr);
      EXPECT_EQ(*ir::as_const_float(folded), number);
      EXPECT_LT(length_of_power(exponent), length_of_general_power(exponent.type()) / 2);
    }
}

TEST(ConstantPower, IsNotMadeForOtherExponents) {
  const auto general = length_of_general_power(Halide::Float(64));
  for (const double number : {0.3, -33.0})
    EXPECT_GT(length_of_power(ir::make_const(Halide::Float(64), number)), general / 2) << number;
}

}  // namespace
}  // namespace tc::halide_bridge
