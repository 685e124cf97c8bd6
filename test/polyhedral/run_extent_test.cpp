#include "tc/polyhedral/core/run_extent.h"

#include <gtest/gtest.h>

namespace tc::polyhedral {
namespace {

TEST(RunExtent, IsTheLargestOfTheLeast) {
  const RunExtent extent{{{{63, 64, {1}}, {2, 1, {}}}, {{7, 8, {0, 1}}}}};  // max(min((N + 63) / 64, 2), (M + 7) / 8)
  const auto at = [&](std::int64_t n, std::int64_t m) {
    const std::int64_t numbers[] = {n, m};
    return extent.at(numbers, 100);
  };
  EXPECT_EQ(at(64, 1), 1);
  EXPECT_EQ(at(65, 1), 2);
  EXPECT_EQ(at(1000, 1), 2);
  EXPECT_EQ(at(1, 33), 5);
  EXPECT_EQ(at(1, 100000), 100) << "no more than the grid for the largest sizes";
  EXPECT_EQ(at(0, 0), 1) << "a launch has a block";
  EXPECT_EQ(to_text(extent, {"N", "M"}), "max(min((N + 63) / 64, 2), (M + 7) / 8)");
}

TEST(RunExtent, IsFixedWithoutParts) {
  EXPECT_EQ(RunExtent().at({}, 7), 7);
  EXPECT_TRUE(RunExtent().is_fixed());
}

}  // namespace
}  // namespace tc::polyhedral
