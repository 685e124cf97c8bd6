#include "tc/strategy/grid/resident_blocks.h"

#include <gtest/gtest.h>

namespace tc::strategy {
namespace {

TEST(ResidentBlocks, AreLimitedByWhatRunsOutFirst) {
  auto limits = GridLimits::of("sm_90");
  struct {
    std::int64_t threads, shared_bytes, registers, blocks;
  } cases[] = {{256, 0, 64, 4},        {256, 0, 128, 2},       {1024, 0, 64, 1}, {1024, 0, 255, 1},
               {32, 0, 64, 32},        {33, 0, 64, 16},        {1, 0, 64, 32},   {128, 48 << 10, 64, 4},
               {64, 100 << 10, 64, 2}, {512, 227 << 10, 32, 1}};
  for (const auto& c : cases)
    EXPECT_EQ(resident_blocks(limits, c.threads, c.shared_bytes, c.registers), c.blocks)
        << c.threads << " threads, " << c.shared_bytes << " bytes";
}

TEST(ResidentBlocks, SharedMemoryMayCostNothingBesides) {
  auto limits = GridLimits::of("sm_75");
  EXPECT_EQ(limits.reserved_shared_bytes, 0);
  EXPECT_EQ(resident_blocks(limits, 256, 0, 64), 4);
}

TEST(ResidentBlocks, GridsAreCutToWhatFits) {
  using Grid = std::array<std::int64_t, 3>;
  EXPECT_EQ(fit_grid({32, 128, 2}, 1000), (Grid{32, 31, 1}));
  EXPECT_EQ(fit_grid({32, 4, 2}, 1000), (Grid{32, 4, 2}));
  EXPECT_EQ(fit_grid({5000, 4, 2}, 528), (Grid{528, 1, 1}));
  EXPECT_EQ(fit_grid({3, 100, 50}, 528), (Grid{3, 100, 1}));
  EXPECT_EQ(fit_grid({7, 1, 1}, 1), (Grid{1, 1, 1}));
}

}  // namespace
}  // namespace tc::strategy
