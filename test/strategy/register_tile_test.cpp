#include "tc/strategy/cpu/register_tile.h"

#include <gtest/gtest.h>

#include "tc/base/str.h"

namespace tc::strategy {
namespace {

std::string tile(const std::vector<Operand>& operands, const std::vector<std::int64_t>& trips, int vector_member,
                 const char* target, const std::vector<std::int64_t>& wanted = {}) {
  auto t = choose_register_tile(operands, trips, vector_member, Target::parse(target), wanted);
  return str("m", t.rows, " x", t.row_count, ", m", t.columns, " x", t.column_count);
}

/// A(m, k) and B(k, n), lanes along n.
const std::vector<Operand> along_columns = {{{true, false}, false}, {{false, true}, true}};
/// X(n, k) and W(o, k), lanes along k.
const std::vector<Operand> along_reduction = {{{true, false}, true}, {{false, true}, true}};

TEST(RegisterTile, FillsTheRegistersWithAccumulators) {
  EXPECT_EQ(tile(along_columns, {6003, 4002}, 1, "cpu:avx512"), "m0 x9, m1 x3");
  EXPECT_EQ(tile(along_columns, {6000, 4000}, 1, "cpu:avx2"), "m0 x6, m1 x2");
}

TEST(RegisterTile, PrefersTilesThatDivideTheExtents) {
  EXPECT_EQ(tile(along_columns, {512, 32}, 1, "cpu:avx512"), "m0 x6, m1 x4");
  EXPECT_EQ(tile(along_columns, {7, 1}, 1, "cpu:avx512"), "m0 x7, m1 x1");
  EXPECT_EQ(tile(along_columns, {1024, 66}, 1, "cpu:avx512"), "m0 x8, m1 x3") << "though 9 x 3 needs fewer loads";
}

TEST(RegisterTile, LeavesPartialTilesWhereRowsComeFromACopy) {
  auto copied = along_columns;
  copied[0].across = true;
  EXPECT_EQ(tile(copied, {1024, 66}, 1, "cpu:avx512"), "m0 x9, m1 x3");
}

TEST(RegisterTile, CountsALastTileWithAPartialVectorAsPartial) {
  auto cut = along_columns;
  cut[1].cut = true;
  EXPECT_EQ(tile(along_columns, {511, 8}, 1, "cpu:avx512"), "m0 x6, m1 x4");
  EXPECT_EQ(tile(cut, {511, 8}, 1, "cpu:avx512"), "m0 x9, m1 x3") << "of 4 vectors half of the columns would be";
  EXPECT_EQ(tile(cut, {26, 2}, 1, "cpu:avx512"), "m0 x13, m1 x2") << "the only tile";
}

TEST(RegisterTile, ReusesBothOperandsOfADotProduct) {
  EXPECT_EQ(tile(along_reduction, {510, 510}, -1, "cpu:avx512"), "m0 x5, m1 x5");
}

TEST(RegisterTile, IsTheOneAskedForAsFarAsTheTripsGo) {
  EXPECT_EQ(tile(along_columns, {6000, 4000}, 1, "cpu:avx512", {9, 5}), "m0 x9, m1 x5");
  EXPECT_NE(tile(along_columns, {6000, 4000}, 1, "cpu:avx512", {1, 1}).find(" x1, m1 x1"), std::string::npos);
  EXPECT_EQ(tile(along_columns, {4, 1}, 1, "cpu:avx512", {6, 2}), "m0 x4, m1 x1");
  EXPECT_EQ(tile(along_reduction, {512, 512}, -1, "cpu:avx512", {3, 7}), "m0 x3, m1 x7");
}

/// I(h + kh, w + kw) and K(kh, kw), lanes along w: rows read windows of `window` elements.
RegisterTile window_tile(std::int64_t window, std::int64_t step, const char* target) {
  std::vector<Operand> operands = {{{true, true}, true}, {{false, false}, false}};
  operands[0].window = window;
  operands[0].step = step;
  return choose_window_tile(operands, {56, 4}, {.rows = 0, .columns = 1}, Target::parse(target));
}

TEST(RegisterTile, LeavesRegistersForTheFactorsOfAWindow) {
  auto tile = window_tile(3, 1, "cpu:avx2");
  EXPECT_LE(tile.row_count * tile.column_count + 3 + 2, 16);
  EXPECT_GE(tile.row_count * tile.column_count, 8);
}

TEST(RegisterTile, AWindowCoversWholeRowsInFewOfThem) {
  auto tile = window_tile(3, 1, "cpu:avx512");
  EXPECT_EQ(str(tile.row_count, "x", tile.column_count), "6x4");
  for (int window : {2, 3, 5, 7}) {
    tile = window_tile(window, 1, "cpu:avx512");
    EXPECT_LE(2 * tile.row_count + window - 1, 16) << window;
  }
}

TEST(RegisterTile, UnrollsNoMoreThanPays) {
  auto tile = window_tile(7, 1, "cpu:avx512");
  EXPECT_LE(tile.row_count * tile.column_count * 7, 96);
  EXPECT_GT(tile.row_count, 2);
}

TEST(RegisterTile, WindowsThatShareMoreGainMore) {
  EXPECT_GT(window_tile(5, 1, "cpu:avx512").gain, window_tile(3, 1, "cpu:avx512").gain);
  EXPECT_GT(window_tile(3, 1, "cpu:avx512").gain, window_tile(3, 2, "cpu:avx512").gain);
}

TEST(RegisterTile, WithoutReuseThereIsLittleGain) {
  std::vector<Operand> rows = {{{true}, true}};
  EXPECT_LT(choose_register_tile(rows, {4096}, -1, Target::parse("cpu:avx512")).gain, 1.5);
}

}  // namespace
}  // namespace tc::strategy
