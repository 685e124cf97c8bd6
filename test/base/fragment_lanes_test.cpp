#include "tc/base/fragment_lanes.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace tc::fragments {
namespace {

/// The lane of the element at \p row, \p column of a fragment of which a word holds \p run elements of a row, in a block
/// of 4 x 8 x warps threads: thread_x is word mod 4, thread_y is row mod 8.
int lane_by_digits(int row, int column, int run) { return column / run % 4 + 4 * (row % 8); }

TEST(FragmentLanes, AreTheDigitsOfABlockOf4x8Threads) {
  for (int bits : {8, 16, 32})
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < count_of_a(bits); ++i) {
        const auto at = element_of_a(bits, lane, i);
        EXPECT_EQ(lane_by_digits(at.row, at.column, 32 / bits), lane) << bits << " bits, element " << i;
      }
      for (int i = 0; i < count_of_b(bits); ++i) {
        const auto at = element_of_b(bits, lane, i);
        EXPECT_EQ(lane_by_digits(at.column, at.row, 32 / bits), lane) << bits << " bits, element " << i;
      }
      for (int i = 0; i < 4; ++i) {
        const auto at = element_of_c(lane, i);
        EXPECT_EQ(lane_by_digits(at.row, at.column, 2), lane) << "element " << i;
      }
    }
}

TEST(FragmentLanes, HoldEachElementOnce) {
  for (int bits : {8, 16, 32}) {
    std::set<std::pair<int, int>> a, b, c;
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < count_of_a(bits); ++i) {
        const auto at = element_of_a(bits, lane, i);
        EXPECT_TRUE(at.row < 16 && at.column < steps(bits) && a.emplace(at.row, at.column).second);
      }
      for (int i = 0; i < count_of_b(bits); ++i) {
        const auto at = element_of_b(bits, lane, i);
        EXPECT_TRUE(at.row < steps(bits) && at.column < 8 && b.emplace(at.row, at.column).second);
      }
      for (int i = 0; i < 4; ++i) {
        const auto at = element_of_c(lane, i);
        EXPECT_TRUE(at.row < 16 && at.column < 8 && c.emplace(at.row, at.column).second);
      }
    }
    EXPECT_EQ(a.size() + b.size() + c.size(), static_cast<std::size_t>(24 * steps(bits) + 128));
  }
}

}  // namespace
}  // namespace tc::fragments
