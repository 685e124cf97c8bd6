#include "tc/base/warp_access.h"

#include <gtest/gtest.h>

namespace tc {
namespace {

/// Threads \p stride elements of 4 bytes apart, \p elements each.
WarpAccess apart(std::int64_t stride, int elements = 1, int threads = 32) {
  WarpAccess result{"A", false, 4, elements, 1, {}};
  for (int t = 0; t < threads; ++t) result.places.push_back(t * stride);
  return result;
}

TEST(WarpAccess, TouchesSectors) {
  EXPECT_EQ(sectors(apart(0), 32), 1);
  EXPECT_EQ(sectors(apart(1), 32), 4);
  EXPECT_EQ(sectors(apart(1), 32, 4), 5);
  EXPECT_EQ(sectors(apart(1), 32, -4), 5);
  EXPECT_EQ(sectors(apart(4, 4), 32), 16);
  EXPECT_EQ(sectors(apart(1000), 32), 32);
  EXPECT_EQ(sectors(apart(-1), 32), 5);
}

TEST(WarpAccess, BanksServeThreadsInRounds) {
  EXPECT_EQ(rounds(apart(1), 32), 1);
  EXPECT_EQ(rounds(apart(0), 32), 1);
  EXPECT_EQ(rounds(apart(2), 32), 2);
  EXPECT_EQ(rounds(apart(32), 32), 32);
  EXPECT_EQ(rounds(apart(33), 32), 1);
  EXPECT_EQ(rounds(apart(4, 4), 32), 4);
  EXPECT_EQ(fewest_rounds(apart(32), 32), 1);
  EXPECT_EQ(fewest_rounds(apart(4, 4), 32), 4);
}

}  // namespace
}  // namespace tc
