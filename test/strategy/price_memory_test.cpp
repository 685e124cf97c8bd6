#include <gtest/gtest.h>

#include "test/strategy/price_fixture.h"

namespace tc::strategy {
namespace {

/// Prices on a core that foresees the lines of runs side by side in memory after some have come.
class PriceMemoryTest : public PriceTest {
 protected:
  static constexpr double unforeseen_lines = 90;

  static Price price_on(PricedCluster cluster, const std::string& text) {
    cluster.rates.unforeseen_lines = unforeseen_lines;
    return price(cluster, mapping(text), 1 << 18);
  }
  static double unforeseen(const PricedCluster& cluster, const std::string& text) {
    return price_on(cluster, text).far[2].unforeseen;
  }
};

TEST_F(PriceMemoryTest, ShortRunsSideBySideAreNotForeseen) {
  const auto cluster = copy(4096, false);
  const double lines = price_on(cluster, "points 1x16, S: i1 x16").far[2].bytes / 64;
  EXPECT_LT(unforeseen(cluster, "points 1x16, S: i1 x16"), lines / 100) << "one run, row behind row";
  const auto eight_rows = unforeseen(cluster, "blocks 0x64, register 8x16, S: i1 x16");
  EXPECT_GT(eight_rows, lines / 2) << "eight rows of 256 bytes, then the next eight";
  EXPECT_NEAR(unforeseen(cluster, "register 8x16, S: i1 x16"), 2 * unforeseen_lines * 4096 / 8, lines / 100)
      << "eight rows of 16 kB, of both tensors";
  EXPECT_LT(unforeseen(cluster, "register 16x16, S: i1 x16"), unforeseen(cluster, "register 8x16, S: i1 x16"));
}

TEST_F(PriceMemoryTest, RowsSideBySideThatAreOneRunAreSeenAtOnce) {
  auto narrow = [&](int columns) {
    const auto text = str(columns);
    return priced(ScopBuilder(context())
                      .input("A", {1 << 20, columns})
                      .output("C", {1 << 20, columns})
                      .statement("S[i, j] : 0 <= i < 1048576 and 0 <= j < " + text, "C[i, j]", {"A[i, j]"})
                      .scop());
  };
  EXPECT_LT(unforeseen(narrow(64), "register 4x16, S: i1 x16"), 1e4) << "1 kB";
  EXPECT_GT(unforeseen(narrow(256), "register 4x16, S: i1 x16"), 1e6) << "4 kB";
}

TEST_F(PriceMemoryTest, SmallGapsAreReadAcross) {
  auto sums = [&](int columns) {
    return priced(
        ScopBuilder(context())
            .input("X", {200, 300, columns})
            .output("s", {200, 300})
            .identity("I[a, b] : 0 <= a < 200 and 0 <= b < 300", "s[a, b]")
            .accumulate("U[a, b, c] : 0 <= a < 200 and 0 <= b < 300 and 0 <= c < 256", "s[a, b]", {"X[a, b, c]"})
            .scop());
  };
  const auto rows = "I: i1 x1, U: i2 x16";
  const double lines = 200 * 300 * 1024 / 64;
  EXPECT_LT(unforeseen(sums(320), rows), lines / 30) << "256 bytes between rows of a kB";
  EXPECT_GT(unforeseen(sums(512), rows), lines * 0.9) << "a kB between them";
}

TEST_F(PriceMemoryTest, CopiesThatTransposeSquaresReadRowsSideBySide) {
  auto products = [&](const char* b) {
    return priced(
        ScopBuilder(context())
            .input("A", {64, 16384})
            .input("B", {16384, 16384})
            .output("C", {64, 16384})
            .identity("I[i, j] : 0 <= i < 64 and 0 <= j < 16384", "C[i, j]")
            .accumulate("U[i, j, k] : 0 <= i < 64 and 0 <= j < 16384 and 0 <= k < 16384", "C[i, j]", {"A[i, k]", b})
            .scop());
  };
  const auto copied =
      "register 8x48, I: i1 x16, U: i1 x16, U: i2 in blocks of 64, pack read 1 of U in panels of 48 i1 lanes 16";
  const auto across = price_on(products("B[j, k]"), copied);
  EXPECT_GT(across.copy_waits, 16384.0 * 16384 * 4 / 64 * across.hertz / 1e9) << "a nanosecond a line and more";
}

TEST_F(PriceMemoryTest, WhatCopiesWriteIsWaitedFor) {
  auto cluster = product(2048);
  const auto copied = "register 8x48, I: i1 x16, U: i1 x16, pack read 1 of U in panels of 48 i1 lanes 16, stage C";
  const auto before = price(cluster, mapping(copied), 1 << 18);
  cluster.rates.l3_bytes /= 4;
  cluster.rates.memory_bytes /= 4;
  const auto after = price(cluster, mapping(copied), 1 << 18);
  const double written = 2048.0 * 2048 * 4;
  EXPECT_GT(after.copy_waits - before.copy_waits, 2 * written / cluster.rates.memory_bytes / 4)
      << "what is read, and what is written and comes to be so, no faster than from memory";
}

}  // namespace
}  // namespace tc::strategy
