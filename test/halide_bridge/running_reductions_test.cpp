#include "tc/halide_bridge/rewrite/running_reductions.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "test/halide_bridge/lower_fixture.h"

namespace tc::halide_bridge {
namespace {

const lang::SizeMap run_sizes{{"N", 100}, {"M", 4}, {"F", 9}};

/// How many statements of \p text are in an ordered loop, after the pass.
std::ptrdiff_t loops_in(const std::string& text) {
  const auto program = running_reductions(lowered(text, run_sizes));
  std::ptrdiff_t count = 0;
  for (const auto& launch : program.launches)
    count += std::count_if(launch.statements.begin(), launch.statements.end(),
                           [](const ProgramStatement& statement) { return statement.loops.size() == 1; });
  return count;
}

std::string of(const std::string& value, const std::string& ranges = "i in 0:N") {
  return "def f(float(N) X, float(N,M) Y, float(F) Z, bool(N) B) -> (S) { S(i) " + value + " where " + ranges + " }";
}

TEST(RunningReductions, RunInOrder) {
  EXPECT_EQ(loops_in(of("+=! k <= i ? X(k) : 0")), 1);
  EXPECT_EQ(loops_in(of("+=! i >= k ? X(k) : 0")), 1);
  EXPECT_EQ(loops_in(of("+=! k < i ? X(k) : 0")), 1);
  EXPECT_EQ(loops_in(of("*=! k + 2 <= i && B(k) ? X(k) : 1")), 1);
  EXPECT_EQ(loops_in(of("max=! k >= i ? X(k) : -inf")), 1);
  EXPECT_EQ(loops_in(of("+=! i < k ? X(k) * Y(k,0) : 0", "i in 3:N")), 1);
}

TEST(RunningReductions, OthersStay) {
  EXPECT_EQ(loops_in(of("+=! k <= i ? X(k) * i : 0")), 0) << "the terms of another result are others";
  EXPECT_EQ(loops_in(of("+=! k <= i ? X(k) : 1")), 0) << "1 is no identity";
  EXPECT_EQ(loops_in(of("+=! k <= i + 1 ? X(k) : 0")), 0) << "the first result has two terms";
  EXPECT_EQ(loops_in(of("+=! k <= 2 * i ? X(k) : 0")), 0);
  EXPECT_EQ(loops_in(of("+=! k <= i ? Y(k,m) : 0")), 0) << "two iterators are reduced";
  EXPECT_EQ(loops_in(of("+=! k <= i ? Z(k) : 0", "i in 0:F")), 0) << "few terms";
}

TEST(RunningReductions, ReadTheResultBefore) {
  const auto program = running_reductions(lowered(of("+=! k <= i ? X(k) : 0"), run_sizes));
  const auto& statements = program.launches.at(0).statements;
  ASSERT_EQ(statements.size(), 1u);
  EXPECT_EQ(statements[0].kind, ProgramStatement::Kind::Assign);
  EXPECT_EQ(statements[0].iterators, std::vector<std::string>{"i"});
  EXPECT_EQ(statements[0].loops.at(0).iterator, "i");
}

}  // namespace
}  // namespace tc::halide_bridge
