#include <gtest/gtest.h>

#include "tc/base/error.h"
#include "tc/lang/syntax/print.h"
#include "test/autodiff/gradient_fixture.h"

namespace tc::test {
namespace {

/// Products of four factors, about half of which are exactly 0: rows of A are 0.5, B is 0 or 1.
const char* text = "def f(double(N,M) A, int32(N,M) B) -> (O) { O(i) *=! A(i,j) - 0.5 * B(i,j) }";
const lang::SizeMap sizes = {{"N", 24}, {"M", 4}};

GradCheck of_halves() { return {.values = {{"A", {0.5, 0.5}}}, .certified = false}; }

std::string derivative(const std::string& of, const autodiff::Options& options = {}) {
  return print(gradient_of(of, options).def());
}

TEST(ProductsWithZeros, HaveTheRightGradient) { EXPECT_EQ(gradcheck(text, sizes, of_halves()), ""); }

TEST(ProductsWithZeros, HaveTheRightGradientOfTheGradient) {
  for (std::uint64_t seed : {1, 2, 3}) {
    GradCheck how = of_halves();
    how.seed = seed;
    EXPECT_EQ(gradcheck(derivative(text), sizes, how), "") << seed;
  }
}

TEST(ProductsWithZeros, HaveNoThirdDerivative) {
  const std::string second = derivative(derivative(text), {.wrt = {"A"}});
  try {
    gradient_of(second, {.wrt = {"A"}});
    ADD_FAILURE() << second;
  } catch (const SemanticError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("TC307"), std::string::npos) << message;
    EXPECT_NE(message.find("write the product as statements that multiply two factors"), std::string::npos) << message;
  }
}

/// Derivatives along a direction are linear in it.
TEST(ProductsWithZeros, HaveATangentOfTheGradient) {
  const std::string second = derivative(derivative(text), {.wrt = {"A"}});
  EXPECT_EQ(
      gradcheck(second, sizes, {.values = {{"A", {0.5, 0.5}}}, .options = {.wrt = {"d_d_A"}}, .certified = false}), "");
}

}  // namespace
}  // namespace tc::test
