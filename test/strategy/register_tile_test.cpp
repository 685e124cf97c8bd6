#include "tc/strategy/register_tile.h"

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
  EXPECT_EQ(tile(along_columns, {6000, 4000}, 1, "cpu:avx512"), "m0 x9, m1 x3");
  EXPECT_EQ(tile(along_columns, {6000, 4000}, 1, "cpu:avx2"), "m0 x6, m1 x2");
}

TEST(RegisterTile, PrefersTilesThatDivideTheExtents) {
  EXPECT_EQ(tile(along_columns, {512, 32}, 1, "cpu:avx512"), "m0 x6, m1 x4");
  EXPECT_EQ(tile(along_columns, {7, 1}, 1, "cpu:avx512"), "m0 x7, m1 x1");
}

TEST(RegisterTile, ReusesBothOperandsOfADotProduct) {
  EXPECT_EQ(tile(along_reduction, {512, 512}, -1, "cpu:avx512"), "m0 x5, m1 x5");
}

TEST(RegisterTile, IsTheOneAskedForAsFarAsTheTripsGo) {
  EXPECT_EQ(tile(along_columns, {6000, 4000}, 1, "cpu:avx512", {9, 5}), "m0 x9, m1 x5");
  EXPECT_NE(tile(along_columns, {6000, 4000}, 1, "cpu:avx512", {1, 1}).find(" x1, m1 x1"), std::string::npos);
  EXPECT_EQ(tile(along_columns, {4, 1}, 1, "cpu:avx512", {6, 2}), "m0 x4, m1 x1");
  EXPECT_EQ(tile(along_reduction, {512, 512}, -1, "cpu:avx512", {3, 7}), "m0 x3, m1 x7");
}

TEST(RegisterTile, WithoutReuseThereIsLittleGain) {
  std::vector<Operand> rows = {{{true}, true}};
  EXPECT_LT(choose_register_tile(rows, {4096}, -1, Target::parse("cpu:avx512")).gain, 1.5);
}

}  // namespace
}  // namespace tc::strategy
