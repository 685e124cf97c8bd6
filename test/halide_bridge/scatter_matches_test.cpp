#include "tc/halide_bridge/rewrite/scatter_matches.h"

#include <gtest/gtest.h>

#include "test/halide_bridge/lower_fixture.h"

namespace tc::halide_bridge {
namespace {

/// The statement of \p text that accumulates into T, after the pass.
ProgramStatement update_of(const std::string& text, const lang::SizeMap& sizes) {
  const auto program = scatter_matches(lowered(text, sizes));
  for (const auto& launch : program.launches)
    for (const auto& statement : launch.statements)
      if (statement.kind == ProgramStatement::Kind::Update && statement.target == "T") return statement;
  ADD_FAILURE() << "nothing accumulates in " << text;
  return {};
}

using Names = std::vector<std::string>;
const lang::SizeMap sizes{{"B", 8}, {"D", 4}, {"E", 16}, {"F", 32}};

TEST(ScatterMatches, WritesWhereTheIndexSays) {
  const auto update = update_of(
      "def f(int32(B) I, float(B,D) X) -> (T) { T(e,d) +=! I(b) == e ? X(b,d) : 0 where e in 0:16, b in 0:8 }", sizes);
  EXPECT_EQ(update.iterators, Names({"d", "b"}));
  EXPECT_EQ(update.domain.size(), 2u);
  const auto* row = update.subscripts.at(0).as<Halide::Internal::Call>();
  ASSERT_TRUE(row && row->is_intrinsic(Halide::Internal::Call::if_then_else));
  EXPECT_TRUE(update.subscripts.at(1).as<Halide::Internal::Variable>());
}

TEST(ScatterMatches, TakesEveryIteratorThatIsAnIndex) {
  const auto update = update_of(
      "def f(int32(B) I, int64(B) J, float(B,D) X) -> (T) { T(e,d,j) +=! d < 3 && e == I(b) && J(b) + 1 == j ? X(b,d) "
      ": "
      "0 where e in 0:16, j in 0:32 }",
      sizes);
  EXPECT_EQ(update.iterators, Names({"d", "b"}));
}

TEST(ScatterMatches, TakesTwoIteratorsOfOneIndex) {
  const auto update = update_of(
      "def f(int32(B) I, float(B) X, float(E) W) -> (T) { T(q) +=! I(b) == p && I(b) == q ? X(b) * W(p) : 0 "
      "where p in 0:16, q in 0:16 }",
      sizes);
  EXPECT_EQ(update.iterators, Names({"b"}));
  for (const char* gone : {"p", "q"}) {
    EXPECT_FALSE(Halide::Internal::expr_uses_var(update.subscripts.at(0), gone));
    EXPECT_FALSE(Halide::Internal::expr_uses_var(update.value, gone));
  }
}

TEST(ScatterMatches, TakesEveryOperator) {
  const std::string texts[] = {
      "float(16) T) { T(I(b)) *=! X(b,d) }",          "float(16) T) { T(I(b)) max=! X(b,d) }",
      "half(16) T) { T(I(b)) min=! half(X(b,d)) }",   "int8(16) T) { T(I(b)) max=! int8(X(b,d)) }",
      "uint64(16) T) { T(I(b)) min=! uint64(I(b)) }", "bool(16) T) { T(I(b)) ||=! X(b,d) > 0 }",
      "bool(16) T) { T(I(b)) &&=! X(b,d) > 0 }"};
  for (const std::string& text : texts) {
    const auto update = update_of("def f(int32(B) I, float(B,D) X) -> (" + text, sizes);
    EXPECT_TRUE(update.subscripts.at(0).as<Halide::Internal::Call>()) << text;
    EXPECT_EQ(update.iterators.at(0), "b") << text;
  }
}

TEST(ScatterMatches, ReadsWhereTheIndexSays) {
  const auto update =
      update_of("def f(int32(B) I, float(E,D) X) -> (T) { T(b,d) +=! I(b) == e ? X(e,d) : 0 where e in 0:16 }", sizes);
  EXPECT_EQ(update.iterators, Names({"b", "d"}));
  EXPECT_TRUE(update.value.as<Halide::Internal::Call>()->is_intrinsic(Halide::Internal::Call::if_then_else));
}

TEST(ScatterMatches, TakesIndicesThatReductionsTell) {
  const auto update = update_of("def f(float(B) X) -> (float(17) T) { T(2*b+1) +=! X(b) }", sizes);
  EXPECT_EQ(update.iterators, Names({"b"}));
  EXPECT_FALSE(update.subscripts.at(0).as<Halide::Internal::Variable>());
}

TEST(ScatterMatches, LeavesWhatItCannotOrNeedNotChange) {
  const char* const texts[] = {
      "def f(int32(B) I, float(B,D) X) -> (T) { T(e,d) +=! I(b) == e ? X(b,d) : 0 where e in 0:15 }",  // few rows
      "def f(int32(B) I, float(B,D) X) -> (T) { T(e,d) +=! I(b) == e ? X(b,d) : 1 where e in 0:16 }",
      "def f(int32(B) I, float(B,D) X) -> (T) { T(e,d) max=! I(b) == e ? X(b,d) : 0 where e in 0:16 }",
      "def f(int32(B) I, float(B,D) X) -> (T) { T(e,d) +=! I(b) <= e ? X(b,d) : 0 where e in 0:16 }",
      "def f(int32(B) I, float(B,D) X) -> (T) { T(e,d) +=! I(b) == e || d > 1 ? X(b,d) : 0 where e in 0:16 }",
      "def f(int32(E) I, float(B,D) X) -> (T) { T(e,d) +=! I(e) == e ? X(b,d) : 0 where e in 0:16 }",
      "def f(int32(B) I, float(B,D) X) -> (T) { T(e,d) *=! I(b) == e ? X(b,d) : X(b,0) where e in 0:16 }",
      "def f(float(E,D) X) -> (T) { T(e,g) +=! e == g ? X(e,d) : 0 where g in 0:16 }",
      // the condition before it says where the index may be read
      "def f(int32(B) I, float(B) X) -> (T) { T(e) +=! b + e < B && I(b) == e ? X(b) : 0 where e in 0:16, b in 0:99 }",
  };
  for (const char* text : texts)
    for (const auto& subscript : update_of(text, sizes).subscripts)
      EXPECT_TRUE(subscript.as<Halide::Internal::Variable>()) << text;
}

}  // namespace
}  // namespace tc::halide_bridge
