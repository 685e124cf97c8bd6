#include "tc/strategy/grid/spread_over_grid.h"

#include <gtest/gtest.h>

namespace tc::strategy {
namespace {

using polyhedral::ClusterView;
using polyhedral::GridClusterMapping;

const GridLimits limits = GridLimits::of("sm_90");

/// Members of so many iterations each, from 0 on.
ClusterView members(const std::vector<std::int64_t>& extents) {
  ClusterView result;
  for (auto extent : extents) result.members.push_back({0, extent - 1});
  return result;
}
GridClusterMapping tiles(const std::vector<std::int64_t>& sizes) {
  GridClusterMapping result;
  for (auto size : sizes) result.members.push_back({size, -1, {}});
  return result;
}

TEST(SpreadOverGrid, MembersTakeDimensionsInOrder) {
  auto result = spread_over_grid(tiles({128, 64}), members({1024, 1000}), {1, 0}, limits, {});
  EXPECT_EQ(result.grid, (std::array<std::int64_t, 3>{16, 8, 1}));
  EXPECT_EQ(result.members[0].grid, 1);
  EXPECT_EQ(result.members[1].grid, 0);
}

TEST(SpreadOverGrid, SingleTilesTakeNone) {
  auto result = spread_over_grid(tiles({0, 64, 32}), members({1024, 64, 64}), {0, 1, 2}, limits, {});
  EXPECT_EQ(result.grid, (std::array<std::int64_t, 3>{2, 1, 1}));
  EXPECT_EQ(result.members[0].grid, -1) << "a tile of 0 iterations has all of them";
  EXPECT_EQ(result.members[1].grid, -1);
  EXPECT_EQ(result.members[2].grid, 0);
}

TEST(SpreadOverGrid, ThereAreThreeDimensions) {
  auto result = spread_over_grid(tiles({1, 1, 1, 1}), members({2, 3, 4, 5}), {3, 2, 1, 0}, limits, {});
  EXPECT_EQ(result.grid, (std::array<std::int64_t, 3>{5, 4, 3}));
  EXPECT_EQ(result.members[0].grid, -1);
}

TEST(SpreadOverGrid, BlocksGoRoundWhereTheyAreGivenOrFew) {
  auto given = spread_over_grid(tiles({1, 1}), members({100, 200}), {1, 0}, limits, {8});
  EXPECT_EQ(given.grid, (std::array<std::int64_t, 3>{8, 1, 1}));
  EXPECT_EQ(given.members[0].grid, 1) << "one block along y has all of its tiles";
  auto most = spread_over_grid(tiles({1, 1}), members({100000, 2}), {1, 0}, limits, {});
  EXPECT_EQ(most.grid, (std::array<std::int64_t, 3>{2, 65535, 1}));
}

TEST(SpreadOverGrid, PartialTilesAreFound) {
  EXPECT_TRUE(has_partial_tiles(tiles({128, 1}), members({1000, 7})));
  EXPECT_FALSE(has_partial_tiles(tiles({125, 1}), members({1000, 7})));
  EXPECT_EQ(tile_count(tiles({128}), members({1000}), 0), 8);
}

}  // namespace
}  // namespace tc::strategy
