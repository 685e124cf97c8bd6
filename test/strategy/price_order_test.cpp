#include <gtest/gtest.h>

#include "test/strategy/price_fixture.h"

namespace tc::strategy {
namespace {

TEST_F(PriceTest, ABroadcastTakesAPartOfTheTimeOfAVector) {
  // A register of 64 bytes that a core loads by halves: one element for all lanes takes half of that time.
  const Target zen4 = Target::parse("cpu:avx512,core=zen4,cores=1");
  auto loads = [&](const char* what) {
    return price(priced(ScopBuilder(context())
                            .input("A", {64, 64})
                            .output("C", {64, 64})
                            .statement("S[i, j] : 0 <= i, j < 64", "C[i, j]", {what})
                            .scop(),
                        zen4),
                 mapping("points 1x16, S: i1 x16"), 1 << 18)
        .core.loads;
  };
  EXPECT_DOUBLE_EQ(loads("A[i, 0]"), loads("A[i, j]") / 2);
}

TEST_F(PriceTest, LinesThatAreWrittenWholeNeedNotCome) {
  auto bytes = [&](const char* target, int columns) {
    return price(priced(ScopBuilder(context())
                            .input("A", {1024, columns})
                            .output("C", {1024, columns})
                            .statement(str("S[i, j] : 0 <= i < 1024 and 0 <= j < ", columns), "C[i, j]", {"A[i, j]"})
                            .scop(),
                        Target::parse(target)),
                 mapping("points 1x16, S: i1 x16"), 1 << 18)
        .far[0]
        .bytes;
  };
  const double tensor = 1024 * 1024 * 4;
  EXPECT_DOUBLE_EQ(bytes("cpu:avx512,core=zen4,cores=1", 1024), 2 * tensor) << "what is read, and what is written";
  EXPECT_DOUBLE_EQ(bytes("cpu:avx512,cores=1", 1024), 3 * tensor) << "lines come to be written to";
  EXPECT_GT(bytes("cpu:avx512,core=zen4,cores=1", 1016), 2.9 * tensor * 1016 / 1024) << "vectors lie in two lines";
}

TEST_F(PriceTest, ValuesThatStayTheSameAreComputedAgainWhereOtherLoopsAreFurtherOut) {
  auto cluster = copy(512, false);
  auto& body = cluster.statements[0].body;
  body = {.simple = 1};
  auto before = [&](const std::string& text) { return price(cluster, mapping(text), 1 << 18).core.operations; };
  const auto columns = before("points 8x16, S: i1 x16"), rows = before("points 1x16, S: i1 x16");
  const auto tile = before("register 8x16, S: i1 x16");
  body.invariants.push_back({.changes = {true, false}, .divisions = 1});
  auto more = [&](const std::string& text, double without) { return before(text) - without; };
  EXPECT_EQ(more("points 1x16, S: i1 x16", rows), 0) << "once for each row, before its columns";
  EXPECT_EQ(more("register 8x16, S: i1 x16", tile), 0) << "once for each of eight rows";
  EXPECT_DOUBLE_EQ(more("points 8x16, S: i1 x16", columns), (512.0 * 512 / 16 - 512) * cluster.rates.division)
      << "rows inside columns: with each vector";
}

TEST_F(PriceTest, ElementsThatATileAddsToComeAgainWhereTheyShareASet) {
  auto ends = [&](int columns) {
    const auto mn = str("0 <= i < 128 and 0 <= j < ", columns);
    return price(
               priced(ScopBuilder(context())
                          .input("A", {128, 512})
                          .input("B", {columns, 512})
                          .output("C", {128, columns})
                          .identity(str("I[i, j] : ", mn), "C[i, j]")
                          .accumulate(str("U[i, j, k] : ", mn, " and 0 <= k < 512"), "C[i, j]", {"A[i, k]", "B[j, k]"})
                          .scop()),
               mapping("register 64x6, I: i1 x8, U: i0 x16, U: i2 in blocks of 128"), 1 << 18)
        .core.loops;
  };
  EXPECT_GT(ends(1024), 10 * ends(1040)) << "rows of 4096 bytes: 64 lines in one set of eight";
}

TEST_F(PriceTest, ColumnsOfARowAreRunsOfTheirOwnThoughTheyFollowOneAnother) {
  auto runs = [&](const std::string& text) { return price(product(1024), mapping(text), 1 << 18).far[1].runs; };
  const auto by_columns = runs("register 8x48, I: i1 x16, U: i1 x16, U: i2 in blocks of 128, stage C");
  const double lines = 1024 * 1024 * 4 / 64, rows_of_a = 8 * 1024;
  EXPECT_GT(by_columns, lines / 4 + rows_of_a) << "three lines of each row of B in turn";
}

TEST_F(PriceTest, FewRunsAreFollowedSideBySide) {
  auto runs = [&](const std::string& rows) {
    return price(dots(4096, 4096, "B[i, j]", target_), mapping("register " + rows + ", I: i0 x16, U: i1 x16, stage s"),
                 1 << 18)
        .far[2]
        .runs;
  };
  EXPECT_GT(runs("48"), 20 * runs("8"));
}

TEST_F(PriceTest, StoresTransposeSquares) {
  auto transposed = copy(512, true);
  EXPECT_DOUBLE_EQ(price(transposed, mapping("register 16x16, S: i0 x16"), 1 << 18).core.stores,
                   price(transposed, mapping("register 16x16, S: i1 x16"), 1 << 18).core.stores);
}

TEST_F(PriceTest, ElementsUnderConditionsOfTheirLanesAreAskedOneByOne) {
  auto cycles_of = [&](bool conditions) {
    auto cluster = priced(polyhedral::scops::row_sums(context(), 512, 512));
    if (conditions) cluster.statements[1].guards.push_back({{0}, {{{1}, 0}}});
    return cycles(cluster, "register 16, I: i0 x16, U: i0 x16, stage C");
  };
  EXPECT_GT(cycles_of(true), cycles_of(false) + 512 * 512 * 10);
}

TEST_F(PriceTest, ValuesOfAWindowAreLookedAtOnce) {
  auto maxima = [&](double of_value, const std::string& window) {
    auto cluster =
        priced(ScopBuilder(context())
                   .input("X", {68, 512})
                   .output("Y", {64, 512})
                   .identity("I[h, w] : 0 <= h < 64 and 0 <= w < 512", "Y[h, w]")
                   .accumulate("U[h, w, r] : 0 <= h < 64 and 0 <= w < 512 and 0 <= r < 5", "Y[h, w]", {"X[h + r, w]"})
                   .scop());
    cluster.statements[1].body = {.simple = 2, .of_value = of_value};
    return price(cluster, mapping("register 3x16, I: i1 x16, U: i1 x16, stage Y" + window), 1 << 18).core.operations;
  };
  const std::string window = ", U: i2 slides along i0 width 5 step 1";
  EXPECT_DOUBLE_EQ(maxima(1, ""), maxima(0, ""));
  EXPECT_NEAR(maxima(1, window) / maxima(0, window), (1 + 7.0 / 15) / 2, 0.02) << "seven rows for fifteen points";
}

}  // namespace
}  // namespace tc::strategy
