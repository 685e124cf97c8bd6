#include "tc/strategy/cost/work.h"

#include <gtest/gtest.h>

#include "tc/lang/check/check.h"
#include "tc/lang/syntax/parse.h"
#include "test/support/interpret_text.h"

namespace tc::strategy {
namespace {

/// The work of the first def of \p text.
Work work_of(const std::string& text, const lang::SizeMap& sizes) {
  auto def = lang::check(lang::parse(text)).defs.at(0);
  return count_work(def, test::plain_ranges(def, sizes), sizes);
}
std::string told(const std::string& text, const lang::SizeMap& sizes = {{"N", 10}}) {
  auto work = work_of(text, sizes);
  return to_string(work) + (work.exact ? "" : " at most");
}
/// The same of one value O(i) of float32 vectors A and B, int32 vectors I and J, 10 elements each.
std::string of_value(const std::string& value) {
  return told("def f(float(N) A, float(N) B, int32(N) I, int32(N) J, bool(N) P) -> (O) { O(i) = " + value +
              " where i in 0:N }");
}

TEST(Work, AProductMultipliesAndAddsAtEachPoint) {
  auto work = work_of("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
                      {{"M", 3}, {"K", 5}, {"N", 7}});
  EXPECT_EQ(to_string(work), "adds 105, multiplies 105");
  EXPECT_EQ(work.flops(), 2 * 3 * 5 * 7);
  EXPECT_TRUE(work.exact);
}

TEST(Work, KindsAreToldApart) {
  EXPECT_EQ(of_value("A(i)"), "none");
  EXPECT_EQ(of_value("A(i) + B(i) - 1.0"), "adds 20");
  EXPECT_EQ(of_value("A(i) / B(i)"), "divisions 10");
  EXPECT_EQ(of_value("fma(A(i), B(i), A(i))"), "fused 10");
  EXPECT_EQ(of_value("sqrt(A(i)) * rsqrt(B(i))"), "multiplies 10, divisions 10, square_roots 20");
  EXPECT_EQ(of_value("exp(-A(i)) + tanh(B(i))"), "adds 10, functions 20");
  EXPECT_EQ(of_value("relu(clamp(A(i), 0.0, 1.0))"), "comparisons 30");
  EXPECT_EQ(of_value("I(i) * J(i) + 1"), "integers 20");
  EXPECT_EQ(of_value("max(I(i), J(i))"), "integers 10");
  EXPECT_EQ(of_value("!P(i)"), "integers 10");
}

TEST(Work, SubscriptsAreNoWork) {
  EXPECT_EQ(told("def f(float(N) A) -> (O) { O(i) = A(2 * i + 1) where i in 0:3 }"), "none");
}

TEST(Work, ReductionsCountTheirOperator) {
  EXPECT_EQ(told("def f(float(N) A) -> (O) { O max=! A(i) }"), "comparisons 10");
  EXPECT_EQ(told("def f(float(N) A) -> (O) { O *=! A(i) }"), "multiplies 10");
  EXPECT_EQ(told("def f(int32(N) A) -> (O) { O +=! A(i) }"), "integers 10");
}

TEST(Work, ArmsThatDifferGiveABound) {
  EXPECT_EQ(of_value("A(i) > 0.0 ? A(i) : B(i)"), "comparisons 10");
  EXPECT_EQ(of_value("P(i) ? A(i) + 1.0 : B(i) + 2.0"), "adds 10");
  EXPECT_EQ(of_value("P(i) ? A(i) + 1.0 : B(i) * 2.0"), "adds 10, multiplies 10 at most");
}

TEST(Work, FlopsWeighFusedTwice) {
  Work work{.adds = 1,
            .multiplies = 2,
            .fused = 3,
            .divisions = 4,
            .square_roots = 5,
            .functions = 6,
            .comparisons = 7,
            .integers = 8};
  EXPECT_EQ(work.flops(), 1 + 2 + 6 + 4 + 5 + 6);
}

}  // namespace
}  // namespace tc::strategy
