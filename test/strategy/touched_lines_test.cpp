#include "tc/strategy/price/touched_lines.h"

#include <gtest/gtest.h>

#include "test/strategy/price_fixture.h"

namespace tc::strategy {
namespace {

using TouchedLinesTest = PriceTest;

TEST_F(TouchedLinesTest, LinesAreThoseThatRunsTouch) {
  auto cluster = product(512);
  const auto& b = cluster.statements[1].reads[1];
  auto block = touched_lines(cluster, cluster.statements[1], b, {1, 32, 8});
  EXPECT_EQ(block.bytes, 8 * 128);
  EXPECT_EQ(block.runs, 8);
  EXPECT_EQ(block.rows[0].bytes, 2048);
  auto rows = touched_lines(cluster, cluster.statements[1], b, {1, 512, 4});
  EXPECT_EQ(rows.bytes, 4 * 2048);
  EXPECT_EQ(rows.runs, 1);
  auto column = touched_lines(cluster, cluster.statements[1], b, {1, 1, 512});
  EXPECT_EQ(column.bytes, 512 * 64);
  EXPECT_EQ(column.lines_of_a_set(4096), 256) << "two rows begin in a period";
  EXPECT_EQ(column.sets(4096), 2);
  EXPECT_EQ(block.lines_of_a_set(4096), 4);
  EXPECT_EQ(block.sets(4096), 4) << "two lines in each of two sets";
  EXPECT_EQ(rows.sets(4096), 64);
}

TEST_F(TouchedLinesTest, CopiesLieInPanels) {
  auto cluster = product(500);
  const auto& use = cluster.statements[1];
  const polyhedral::NestCopy columns{1, 1, 1, 48, true, 16}, rows{1, 0, 0, 8, false, 16};
  auto panels = [&](const std::vector<double>& spans) {
    return copied_lines(use, use.reads[1], columns, 4, {500, 500, 500}, spans);
  };
  EXPECT_EQ(panels({1, 48, 8}).runs, 1) << "steps of a panel lie one behind the other";
  EXPECT_EQ(panels({1, 48, 8}).bytes, 8 * 48 * 4);
  EXPECT_EQ(panels({1, 16, 8}).runs, 8) << "a third of each step";
  EXPECT_EQ(panels({1, 96, 8}).runs, 2);
  auto in_rows = [&](const std::vector<double>& spans) {
    return copied_lines(use, use.reads[0], rows, 4, {8, 500, 500}, spans);
  };
  EXPECT_EQ(in_rows({1, 1, 500}).bytes, 2048 - 48 + 64 - 16) << "500 steps, and the rest of whole vectors at the end";
  EXPECT_EQ(in_rows({8, 1, 1}).bytes, 8 * 64) << "a line of each row";
  EXPECT_EQ(in_rows({8, 1, 500}).bytes, 8 * 512 * 4);
}

TEST_F(TouchedLinesTest, RunsThatBeginAnywhereTouchMoreLines) {
  auto cluster = product(500);
  const auto& use = cluster.statements[1];
  const auto& b = use.reads[1];
  EXPECT_DOUBLE_EQ(touched_lines(cluster, use, b, {1, 32, 8}).bytes, 8 * (128 + 64 - 16)) << "at multiples of 16 bytes";
  EXPECT_DOUBLE_EQ(touched_lines(cluster, use, b, {1, 32, 8}).torn, 0.75);
  EXPECT_DOUBLE_EQ(touched_lines(cluster, use, b, {1, 1, 500}).bytes, 500 * 64) << "an element lies in one line";
  EXPECT_DOUBLE_EQ(touched_lines(cluster, use, b, {1, 500, 500}).bytes, 500 * 500 * 4);
}

TEST_F(TouchedLinesTest, AllLinesOfRunsWithGapsHoldSomethingElse) {
  auto cluster = copy(18, false);
  const auto& use = cluster.statements[0];
  auto halves = touched_lines(cluster, use, use.write, {18, 9});
  EXPECT_EQ(halves.runs, 1) << "9 of 18 floats of each row, less than a line apart";
  EXPECT_NEAR(halves.torn, halves.bytes / 64, 0.5);
  EXPECT_LT(touched_lines(cluster, use, use.write, {9, 18}).torn, 1);
}

TEST_F(TouchedLinesTest, RowsOfWindowsOverlap) {
  auto cluster =
      priced(ScopBuilder(context())
                 .input("X", {74, 512})
                 .output("Y", {64, 512})
                 .identity("I[h, w] : 0 <= h < 64 and 0 <= w < 512", "Y[h, w]")
                 .accumulate("U[h, w, r] : 0 <= h < 64 and 0 <= w < 512 and 0 <= r < 5", "Y[h, w]", {"X[h + 2 r, w]"})
                 .scop());
  const auto& use = cluster.statements[1];
  const auto& x = use.reads[0];
  EXPECT_EQ(touched_lines(cluster, use, x, {6, 32, 1}).bytes, 6 * 128);
  EXPECT_EQ(touched_lines(cluster, use, x, {6, 32, 5}).bytes, 14 * 128) << "6 rows and 4 times two more, not 30";
  EXPECT_EQ(touched_lines(cluster, use, x, {1, 32, 5}).bytes, 5 * 128) << "every other row";
  EXPECT_EQ(touched_lines(cluster, use, x, {6, 32, 5}).lines_of_a_set(4096), 7) << "two rows begin in a period";
}

TEST_F(TouchedLinesTest, OfATensorInBlocksRunsFollowBlocks) {
  auto cluster = product(512);
  auto panels = cluster.statements[1].reads[1];
  panels.strides = {0, 1, 16};
  panels.blocks[1] = {16, 1, 512 * 16};
  auto tile = touched_lines(cluster, cluster.statements[1], panels, {1, 16, 512});
  EXPECT_EQ(tile.bytes, 512 * 64);
  EXPECT_EQ(tile.runs, 1) << "rows of a panel follow one another";
  auto wide = touched_lines(cluster, cluster.statements[1], panels, {1, 48, 100});
  EXPECT_EQ(wide.bytes, 3 * 100 * 64);
  EXPECT_EQ(wide.runs, 3);
  auto part = touched_lines(cluster, cluster.statements[1], panels, {1, 24, 1});
  EXPECT_EQ(part.bytes, 2 * 64);
}

}  // namespace
}  // namespace tc::strategy
