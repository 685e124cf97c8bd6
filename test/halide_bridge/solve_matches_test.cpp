#include "tc/halide_bridge/rewrite/solve_matches.h"

#include <gtest/gtest.h>

#include "test/halide_bridge/lower_fixture.h"

namespace tc::halide_bridge::solve_matches_test {
namespace {

using Names = std::vector<std::string>;
const lang::SizeMap sizes{{"B", 8}, {"D", 4}, {"H", 20}, {"K", 4}, {"E", 20}};

/// The statement of \p text that accumulates into O, after the pass.
ProgramStatement update_of(const std::string& text, const std::set<std::string>& kept = {}) {
  const auto program = solve_matches(lowered(text, sizes), kept);
  for (const auto& launch : program.launches)
    for (const auto& statement : launch.statements)
      if (statement.kind == ProgramStatement::Kind::Update && statement.target == "O") return statement;
  ADD_FAILURE() << "nothing accumulates in " << text;
  return {};
}

TEST(SolveMatches, MakesAGatherOfAScatterThatStrides) {
  const auto update = update_of("def f(float(H) X, float(K) W) -> (float(2*H+K-2) O) { O(2*h+k) +=! X(h) * W(k) }");
  ASSERT_EQ(update.iterators.size(), 2u);
  EXPECT_EQ(update.iterators.at(1), "k");
  EXPECT_TRUE(update.subscripts.at(0).as<Halide::Internal::Variable>());
  EXPECT_FALSE(Halide::Internal::expr_uses_var(update.value, "h"));
}

TEST(SolveMatches, TakesTheLongestIteratorOfFactorOne) {
  const std::string text = "float(H) X, float(K) W) -> (float(H+K-1) O) { O(h+k) +=! X(h) * W(k) }";
  EXPECT_EQ(update_of("def f(" + text).iterators.at(1), "k");
  EXPECT_EQ(update_of("def f(" + text, {"h"}).iterators.at(1), "h");
}

TEST(SolveMatches, SolvesEquationsOfReductionsAlone) {
  EXPECT_EQ(update_of("def trace(float(E,H) X) -> (O) { O +=! e == h ? X(e,h) : 0 }").iterators.size(), 1u);
  EXPECT_EQ(update_of("def f(float(B,E,H) X) -> (O) { O(b) max=! 3 == e - h && b < 3 ? X(b,e,h) : -inf }").iterators,
            Names({"b", "h"}));
}

TEST(SolveMatches, SolvesEveryEquation) {
  const auto update = update_of(
      "def f(float(B,H,E) X, float(K,D) W) -> (float(B,2*H+K-2,E+D-1) O) { O(b,2*h+k,e+d) +=! X(b,h,e) * W(k,d) }");
  ASSERT_EQ(update.iterators.size(), 5u);
  for (const char* gone : {"h", "e"}) EXPECT_FALSE(Halide::Internal::expr_uses_var(update.value, gone)) << gone;
}

TEST(SolveMatches, LeavesWhatItCannotSolve) {
  const std::pair<const char*, std::size_t> texts[] = {
      {"def f(float(H) X) -> (float(2*H) O) { O(2*h+1) +=! X(h) }", 2},  // every second element has no term
      {"def f(float(H) X, int32(H) I) -> (float(40) O) { O(I(h)) +=! X(h) }", 2},
      {"def f(float(E,D) X) -> (O) { O(e,g) +=! e == g ? X(e,d) : 0 where g in 0:16 }", 3},
      {"def f(float(H,E) X) -> (O) { O +=! h == e ? X(h,e) : 1 }", 2},
      {"def f(float(H,E) X) -> (O) { O +=! h <= e ? X(h,e) : 0 }", 2},
      {"def f(float(H,E) X) -> (O) { O +=! h*e == 4 ? X(h,e) : 0 }", 2},
  };
  for (const auto& [text, iterators] : texts) EXPECT_EQ(update_of(text).iterators.size(), iterators) << text;
}

}  // namespace
}  // namespace tc::halide_bridge::solve_matches_test
