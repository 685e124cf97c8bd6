#include "tc/polyhedral/map_cpu/check_mapping.h"

#include <gtest/gtest.h>

#include "tc/base/error.h"
#include "tc/polyhedral/map_cpu/map_to_cpu.h"
#include "tc/polyhedral/map_grid/check_grid_mapping.h"
#include "test/polyhedral/mapping_passes_fixture.h"
#include "test/support/simulate.h"

namespace tc::polyhedral {
namespace {

class CheckMapping : public MappingPassTest {
 protected:
  /// Why \p text is no mapping of row sums, "" where it is one.
  std::string refusal(const std::string& text) const {
    try {
      check_mapping(clustered(row_sums()), parse_mapping(text));
      return "";
    } catch (const OptionsError& error) {
      return error.what();
    }
  }
  std::string grid_refusal(const std::string& text) const {
    GridLimits limits;
    limits.block_threads = 256;
    limits.block = {300, 256, 4};
    limits.grid = {1000, 4, 100};
    try {
      check_grid_mapping(clustered(row_sums()), parse_grid_mapping(text), limits);
      return "";
    } catch (const OptionsError& error) {
      return error.what();
    }
  }
};

TEST_F(CheckMapping, WhatItLetsPassIsCarriedOut) {
  for (const char* text : {"serial", "members 1", "points 4", "blocks 3, points 2", "parallel 0, points 3",
                           "register 4, I: i0 x4, U: i0 x4, stage C, copies along 0 x4", "members 1, U: i1 x8 unroll 2",
                           "points 8, I: i0 x8, U: i0 x8, U: i1 in blocks of 7, copies along 0 x8",
                           "points 4, I: i0 x4, U: i0 x4, pack read 0 of U in panels of 4 i0 lanes 4"}) {
    ASSERT_EQ(refusal(text), "") << text;
    auto mapped = map_to_cpu(clustered(row_sums()), parse_mapping(text));
    EXPECT_EQ(simulate(mapped), simulate(row_sums())) << text;
  }
}

TEST_F(CheckMapping, SaysWhatAProgramHasNot) {
  EXPECT_NE(refusal("points 4\npoints 4").find("lines for 2 clusters, the program has 1"), std::string::npos);
  EXPECT_NE(refusal("points 4, parallel 3").find("name member 3, the cluster has 1"), std::string::npos);
  EXPECT_NE(refusal("points 4, above 0 0").find("above the copies twice"), std::string::npos);
  EXPECT_NE(refusal("points 4, I: i0 in blocks of 2").find("it is no loop of a reduction"), std::string::npos);
  EXPECT_NE(refusal("points 4, U: i0 slides along i0 width 3 step 1").find("is not slid along"), std::string::npos);
  EXPECT_NE(grid_refusal("grid 1, block 257, U: i1 threads x").find("at most 256 threads"), std::string::npos);
  EXPECT_NE(grid_refusal("grid 1, block 1x1x8, member 0 tile 8 threads z").find("at most 4 threads along z"),
            std::string::npos);
  EXPECT_NE(grid_refusal("grid 1x8, block 1, member 0 tile 1 blocks y").find("at most 4 blocks along y"),
            std::string::npos);
  EXPECT_NE(grid_refusal("grid 1, block 8x8, member 0 tile 8 warps y run 8 of 8").find("spread over their threads"),
            std::string::npos);
  EXPECT_NE(grid_refusal("grid 1, block 8x8, U: i1 threads x of 8 warps y run 8 of 8")
                .find("threads along x share a reduction"),
            std::string::npos);
  EXPECT_NE(grid_refusal("grid 1, block 8, member 0 tile 1, member 1 tile 1").find("it has 2 members"),
            std::string::npos);
  EXPECT_EQ(grid_refusal("grid 8, block 4, member 0 tile 4 blocks x threads x"), "");
}

}  // namespace
}  // namespace tc::polyhedral
