#include "tc/halide_bridge/rewrite/ragged_updates.h"

#include <gtest/gtest.h>

#include "test/halide_bridge/lower_fixture.h"

namespace tc::halide_bridge {
namespace {

const lang::SizeMap ragged_sizes{{"R1", 33}, {"N", 100}, {"V", 50}, {"D", 8}};

/// The update of Y in a def with the statement \p text, after the pass.
ProgramStatement ragged_update(const std::string& text, const RaggedOptions& options = {{}, 32}) {
  const auto def = "def f(int32(R1) P, int32(N) C, float(N) W, float(V,D) X, bool(N) B, int32(R1) Q) -> (Y) { " + text +
                   " where r in 0:R1-1, j in 0:N }";
  for (const auto& launch : ragged_updates(lowered(def, ragged_sizes), options).launches)
    for (const auto& statement : launch.statements)
      if (statement.target == "Y" && statement.kind == ProgramStatement::Kind::Update) return statement;
  ADD_FAILURE() << text;
  return {};
}

bool is_ragged(const std::string& text, const RaggedOptions& options = {}) {
  return ragged_update(text, options).ragged.has_value();
}

TEST(RaggedUpdates, LoopFromElementToElement) {
  const auto rows = ragged_update("Y(r,d) +=! j >= P(r) && j < P(r+1) ? X(C(j),d) : 0");
  ASSERT_TRUE(rows.ragged);
  EXPECT_EQ(rows.iterators, (std::vector<std::string>{"r", "d"}));
  EXPECT_EQ(rows.ragged->iterator, "j");
  EXPECT_EQ(rows.ragged->range, (lang::IntegerRange{0, 100}));
  EXPECT_TRUE(rows.value.as<Halide::Internal::Call>()) << rows.value;
}

TEST(RaggedUpdates, TakeEveryWayOfWritingTheBounds) {
  EXPECT_TRUE(is_ragged("Y(r) max=! j < P(r+1) && P(r) <= j ? W(j) : -inf"));
  EXPECT_TRUE(is_ragged("Y(r) +=! P(r) <= j ? (Q(r) > j ? W(j) : 0) : 0"));
  EXPECT_TRUE(is_ragged("Y(r) +=! j >= P(r) && j < P(r+1) && B(j) ? W(j) : 0")) << "others stay in the value";
  EXPECT_TRUE(is_ragged("Y(j) +=! j >= P(r) && j < P(r+1) ? W(r) : 0")) << "a scatter";
}

TEST(RaggedUpdates, OthersStay) {
  EXPECT_FALSE(is_ragged("Y(r) +=! j >= P(r) && j < P(r+1) ? W(j) : 1")) << "1 is no identity";
  EXPECT_FALSE(is_ragged("Y(r) +=! j < P(r+1) ? W(j) : 0")) << "one bound: lanes may run along j";
  EXPECT_FALSE(is_ragged("Y(r) +=! j >= r && j < P(r+1) ? W(j) : 0")) << "the first may prove that r+1 is inside";
  EXPECT_FALSE(is_ragged("Y(r) +=! B(j) && j >= P(r) && j < P(r+1) ? W(j) : 0"));
  EXPECT_FALSE(is_ragged("Y(r) +=! j >= C(j) && j < P(r+1) ? W(j) : 0")) << "a bound that depends on j";
  EXPECT_FALSE(is_ragged("Y(r) +=! j >= P(0) && j < P(1) ? W(j) : 0")) << "one row";
  EXPECT_FALSE(is_ragged("Y(r) +=! j >= P(r) && j < P(r+1) ? W(j) : 0", {{"j"}})) << "named by an option";
  EXPECT_FALSE(is_ragged("Y(j) +=! j >= P(r) && j < P(r+1) ? W(r) : 0", {.scatters = false}));
}

}  // namespace
}  // namespace tc::halide_bridge
