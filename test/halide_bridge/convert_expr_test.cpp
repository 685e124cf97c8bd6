#include "tc/halide_bridge/infer/convert_expr.h"

#include <gtest/gtest.h>

#include "tc/halide_bridge/infer/index_bounds.h"
#include "tc/halide_bridge/infer/index_proof.h"
#include "tc/lang/syntax/parse.h"
#include "tc/lang/syntax/print.h"

namespace tc::halide_bridge {
namespace {

Halide::Expr convert(const std::string& text) {
  IndexConverter converter([](const lang::SizeOf& size) { return constant(size.dimension); });
  return converter(lang::parse_expr(text));
}

TEST(ConvertExpr, ToTreeAndBack) {
  for (const char* text :
       {"N + M * 2 - 3", "min(N, M) / 4", "max(N % 3, 2)", "N - M", "N < M && !(M >= 2) || N == 4", "N < 2 ? M : N"})
    EXPECT_EQ(lang::print(to_lang(convert(text))), text);
}

TEST(ConvertExpr, NegativeTermsBecomeSubtractions) {
  EXPECT_EQ(lang::print(to_lang(Halide::Internal::simplify(convert("M - 2 * N")))), "M - N * 2");
}

TEST(ConvertExpr, NegativeDivisorsFloor) {
  EXPECT_EQ(lang::print(to_lang(convert("7 / -2"))), "-4");
  EXPECT_EQ(lang::print(to_lang(convert("7 % -2"))), "-1");
  EXPECT_EQ(lang::print(to_lang(convert("-7 / 2"))), "-4");
  EXPECT_EQ(lang::print(to_lang(convert("7 / 0"))), "0");
}

TEST(ConvertExpr, TidyConditions) {
  const std::pair<const char*, const char*> rows[] = {
      {"N + M < NM + 2", "N + M <= NM + 1"},
      {"0 <= H - 1", "H >= 1"},
      {"N - 1 < 4", "N <= 4"},
      {"N < M + 1", "N <= M"},
      {"N + 3 < M", "N + 4 <= M"},
      {"N + 1 > M && 2 < 1", "M <= N && false"},
  };
  for (const auto& [text, tidy] : rows) EXPECT_EQ(lang::print(to_lang(tidy_condition(convert(text)))), tidy);
}

TEST(ConvertExpr, DataBecomeVariables) {
  IndexConverter converter([](const lang::SizeOf&) { return constant(0); });
  const auto names = variables(converter(lang::parse_expr("A(i) + j + A(i) + B(i)")));
  EXPECT_EQ(names, (std::vector<std::string>{"#0", "j", "#1"}));
  EXPECT_EQ(lang::print(converter.opaque()[1].source), "B(i)");
}

TEST(IndexBounds, Intervals) {
  const SizeFacts facts({"N", "M"});
  const Environment ranges{{"i", {constant(0), convert("N - 1")}}, {"j", {constant(-2), constant(5)}}};
  const std::tuple<const char*, const char*, const char*> rows[] = {
      {"2 * i + j - 1", "-3", "N * 2 + 2"},
      {"M * i", "0", "(N - 1) * M"},
      {"i - i + j", "-2", "5"},
      {"j * j", "-10", "25"},
      {"j % 4", "0", "3"},
      {"min(j, 3) - i", "-1 - N", "3"},
      {"j / 2", "-1", "2"},
      {"j < 2 ? i : j", "-2", "max(N, 6) - 1"},
  };
  for (const auto& [text, low, high] : rows) {
    const IndexBounds found = bounds_over(convert(text), ranges, facts);
    EXPECT_TRUE(facts.proves(found.min == convert(low))) << text << ": " << found.min;
    EXPECT_TRUE(facts.proves(found.max == convert(high))) << text << ": " << found.max;
  }
}

TEST(SizeFacts, ProductsMultipliedOut) {
  const SizeFacts facts({"N", "M", "K"});
  EXPECT_TRUE(facts.proves_less_equal(convert("K * M * (N - 1) + (M - 1) * K + K"), convert("N * M * K")));
  EXPECT_TRUE(facts.proves_less_equal(convert("N * M"), convert("M * (N + K)")));
  EXPECT_FALSE(facts.proves_less_equal(convert("N * M"), convert("M * N - K")));
  EXPECT_FALSE(facts.proves_less_equal(convert("N"), convert("N * M")));
}

TEST(IndexProof, Feasible) {
  const std::pair<const char*, bool> rows[] = {
      {"i >= 1 && i < N && N <= 1", false},
      {"i >= 1 && i < N && N <= 2", true},
      {"2 * i == 2 * j + 1", false},
      {"min(i, j) > i", false},
      {"i / 2 * 2 > i", false},
      {"i % 3 == 3", false},
      {"(i < 2 ? i : 1) > 1", false},
      {"N >= 1 && M >= 2 && N * M < M", false},
      {"N * M < M", true},
      {"A(i) == 1 && A(i) > 1", false},
      {"A(i) == 1 && A(j) > 1", true},
      {"!(i < 3 || j < 3) && i + j < 6", false},
  };
  for (const auto& [text, feasible] : rows) {
    IndexProver prover;
    EXPECT_EQ(prover.feasible({convert(text)}), feasible) << text;
  }
}

TEST(IndexProof, ConditionAgainst) {
  const std::tuple<const char*, const char*, const char*> rows[] = {
      {"0 <= i && i < N && i >= 4", "N >= 0", "N <= 4"},
      {"0 <= i && i < N && i % 2 == 0 && i + 1 >= N", "N >= 1", "N % 2 == 0"},
      {"0 <= i && i < N && i + 1 >= N", "N >= 1", "1 < 0"},
      {"0 <= i && i < N && N <= i", "N >= 0", "1 > 0"},
      {"0 <= i && i < N * M && i >= M", "N * M >= 1 && N >= 1 && M >= 1", "N * M <= M"},
  };
  for (const auto& [conditions, given, weakest] : rows) {
    IndexProver prover;
    const auto found = prover.condition_against({convert(conditions)}, {"N", "M"}, {convert(given)});
    ASSERT_TRUE(found) << conditions;
    const Halide::Expr wanted = convert(weakest);
    EXPECT_FALSE(prover.feasible({convert(given), *found, !wanted})) << conditions << ": " << *found;
    EXPECT_FALSE(prover.feasible({convert(given), wanted, !*found})) << conditions << ": " << *found;
  }
}

TEST(IndexProof, Assumptions) {
  IndexProver prover;
  EXPECT_TRUE(prover.feasible({convert("N < 0")}));
  prover.assume(convert("N >= 0"));
  EXPECT_FALSE(prover.feasible({convert("N < 0")}));
}

}  // namespace
}  // namespace tc::halide_bridge
