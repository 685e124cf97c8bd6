#include "tc/base/shared_banks.h"

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
  EXPECT_EQ(BankCounter(32).count(apart(1)).rounds, 1);
  EXPECT_EQ(BankCounter(32).count(apart(0)).rounds, 1);
  EXPECT_EQ(BankCounter(32).count(apart(-2)).rounds, 2);
  EXPECT_EQ(BankCounter(32).count(apart(2)).rounds, 2);
  EXPECT_EQ(BankCounter(32).count(apart(32)).rounds, 32);
  EXPECT_EQ(BankCounter(32).count(apart(33)).rounds, 1);
  EXPECT_EQ(BankCounter(32).count(apart(4, 4)).rounds, 4);
  EXPECT_EQ(BankCounter(32).count(apart(32)).fewest, 1);
  EXPECT_EQ(BankCounter(32).count(apart(4, 4)).fewest, 4);
}

}  // namespace
}  // namespace tc
