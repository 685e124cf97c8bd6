#include "tc/halide_bridge/rewrite/hoist_invariants.h"

#include <gtest/gtest.h>

#include "test/halide_bridge/lower_fixture.h"

namespace tc::halide_bridge {
namespace {

/// All statements after hoisting, as "target(subscripts)".
std::vector<std::string> targets(const std::string& text, const lang::SizeMap& sizes) {
  std::vector<std::string> result;
  for (const auto& launch : hoist_invariants(lowered(text, sizes)).launches)
    for (const auto& statement : launch.statements) {
      std::string subscripts;
      for (const auto& subscript : statement.subscripts)
        subscripts += (subscripts.empty() ? "" : ",") + subscript.as<Halide::Internal::Variable>()->name;
      result.push_back(statement.id + ": " + statement.target + "(" + subscripts + ")");
    }
  return result;
}
using Targets = std::vector<std::string>;

TEST(HoistInvariants, ComputesTheFactorOfAProductOnce) {
  EXPECT_EQ(targets("def f(float(N,K) A, float(O,K) W) -> (Y) { Y(n,o) +=! exp(A(n,k)) * W(o,k) }",
                    {{"N", 8}, {"K", 8}, {"O", 8}}),
            Targets({"S0: Y(n,o)", "S1: Y_value'(n,k)", "S2: Y(n,o)"}));
}

TEST(HoistInvariants, TakesTheLargestPart) {
  auto program =
      hoist_invariants(lowered("def f(float(N,K) A, float(N,K) C, float(O,K) W) -> (Y) { Y(n,o) +=! A(n,k) / (1 + "
                               "exp(-A(n,k))) * C(n,k) * W(o,k) }",
                               {{"N", 8}, {"K", 8}, {"O", 8}}));
  ASSERT_EQ(program.launches.at(0).statements.size(), 3u);
  EXPECT_EQ(program.tensors.back().name, "Y_value'");
  EXPECT_NE(print(program).find("Y_value'(n, k)*W(o, k)"), std::string::npos) << print(program);
}

TEST(HoistInvariants, EqualPartsShareATemporaryOthersHaveTheirOwn) {
  lang::SizeMap sizes{{"N", 8}, {"K", 8}, {"O", 8}};
  EXPECT_EQ(
      targets("def f(float(N,K) A, float(O,K) W) -> (Y) { Y(n,o) +=! exp(A(n,k)) * W(o,k) * exp(A(n,k)) }", sizes),
      Targets({"S0: Y(n,o)", "S1: Y_value'(n,k)", "S2: Y(n,o)"}));
  EXPECT_EQ(targets("def f(float(N,K) A, float(O,K) W) -> (Y) { Y(n,o) +=! exp(A(n,k)) * exp(W(o,k)) }", sizes),
            Targets({"S0: Y(n,o)", "S1: Y_value'(n,k)", "S2: Y_value1'(o,k)", "S3: Y(n,o)"}));
}

TEST(HoistInvariants, LeavesWhatItWouldNotMakeCheaper) {
  const char* const texts[] = {
      "def f(float(N,K) A, float(O,K) W) -> (Y) { Y(n,o) +=! fmax(A(n,k), 0) * W(o,k) }",  // a cheap function
      "def f(float(N,K) A, float(O,K) W) -> (Y) { Y(n,o) +=! exp(A(n,k) * W(o,k)) }",      // depends on everything
      "def f(float(N,K) A, float(O,K) W) -> (Y) { Y(n,o) = exp(A(n,0)) * W(o,0) }",        // no sum
      "def f(float(N,K) A, float(O,K) W) -> (Y) { Y(n,o) +=! (o > 1 ? exp(A(n+o-2,k)) : 0) * W(o,k) where n in 0:4 }",
      "def f(float(N,K) A, float(3,K) W) -> (Y) { Y(n,o) +=! exp(A(n,k)) * W(o,k) }",           // three times only
      "def f(float(N) A, float(K) B, float(O) W) -> (Y) { Y(o) +=! exp(A(n) + B(k)) * W(o) }",  // as large as all others
  };
  for (const char* text : texts)
    for (const auto& target : targets(text, {{"N", 8}, {"K", 8}, {"O", 8}}))
      EXPECT_EQ(target.find("value"), std::string::npos) << text;
}

TEST(HoistInvariants, ReadsTheCopyOfATargetThatIsReadWhileItIsReduced) {
  auto program = hoist_invariants(
      lowered("def f(float(N) X, float(K) W) -> (Y) { Y(n) = X(n)  Y(n) += exp(Y(n)) * W(k) }", {{"N", 8}, {"K", 8}}));
  auto text = print(program);
  EXPECT_NE(text.find("Y_value'(n) = tc_exp_f32("), std::string::npos) << text;
  EXPECT_EQ(text.find("tc_exp_f32(Y(n))"), std::string::npos) << text;
}

TEST(HoistInvariants, NamesTemporariesBesideTemporaries) {
  EXPECT_EQ(targets("def f(float(N,K) A, float16(O,K) W) -> (float16 Y) { Y(n,o) +=! exp(A(n,k)) * W(o,k) }",
                    {{"N", 8}, {"K", 8}, {"O", 8}}),
            Targets({"S0: Y_acc'(n,o)", "S1: Y_acc_value'(n,k)", "S2: Y_acc'(n,o)", "S3: Y(n,o)"}));
}

}  // namespace
}  // namespace tc::halide_bridge
