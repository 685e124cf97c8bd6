#include "tc/strategy/price/guard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "test/strategy/price_fixture.h"

namespace tc::strategy {
namespace {

class GuardTest : public PriceTest {
 protected:
  /// O(f, h, w) += X(c, h + r - 1, w + s - 1) * K(f, c, r, s) where X has elements, of 16 channels and n x n images.
  Scop convolution(int n, const std::string& inside) const {
    const auto bounds = str("0 <= f < 16 and 0 <= h, w < ", n);
    return ScopBuilder(context())
        .input("X", {16, n, n})
        .input("K", {16, 16, 3, 3})
        .output("O", {16, n, n})
        .identity(str("I[f, h, w] : ", bounds), "O[f, h, w]")
        .accumulate(str("U[f, h, w, r, s, c] : ", bounds, " and 0 <= c < 16 and 0 <= r, s < 3"), "O[f, h, w]",
                    {str("X[c, h + r - 1, w + s - 1] : ", inside), str("K[f, c, r, s] : ", inside)})
        .scop();
  }
  static std::string inside(int n) { return str("0 <= h + r - 1 < ", n, " and 0 <= w + s - 1 < ", n); }
};

TEST_F(GuardTest, ConditionsOnOtherIteratorsStandApart) {
  const auto guards = guards_of(convolution(7, inside(7)).statement("U"));
  ASSERT_EQ(guards.size(), 2u);
  std::vector<std::vector<int>> iterators{guards[0].iterators, guards[1].iterators};
  std::sort(iterators.begin(), iterators.end());
  EXPECT_EQ(iterators, (std::vector<std::vector<int>>{{1, 3}, {2, 4}}));
  for (const auto& guard : guards) {
    EXPECT_EQ(guard.forms.size(), 2u);
    const auto shares = guarded_shares(guard, {16, 7, 7, 3, 3, 16}, {1, 1, 1, 1, 1, 1});
    EXPECT_DOUBLE_EQ(shares.some, 19.0 / 21) << "two of 21 are outside";
    EXPECT_EQ(shares.some, shares.all);
  }
}

TEST_F(GuardTest, NoGuardWhereSomethingIsReadEverywhereOrConditionsAreNoForms) {
  EXPECT_TRUE(guards_of(convolution(7, "h >= 0").statement("U")).empty()) << "all of them";
  EXPECT_TRUE(guards_of(convolution(7, "(h + r) mod 2 = 0").statement("U")).empty());
  EXPECT_TRUE(guards_of(convolution(7, "h + r = 3").statement("U")).empty());
  EXPECT_TRUE(guards_of(convolution(7, "h + r < 3 or w + s < 3").statement("U")).empty());
  EXPECT_TRUE(guards_of(convolution(7, inside(7)).statement("I")).empty());
  auto scop = convolution(7, inside(7));
  scop.statement("U").op = ReductionOp::Max;
  EXPECT_TRUE(guards_of(scop.statement("U")).empty()) << "0 is not neutral";
}

TEST_F(GuardTest, FormsThatShareIteratorsAreOneCondition) {
  const auto guards = guards_of(convolution(7, "h + r < 6 and r + s < 4 and c + w < 20").statement("U"));
  ASSERT_EQ(guards.size(), 2u);
  const auto& large = guards[0].iterators.size() == 3 ? guards[0] : guards[1];
  EXPECT_EQ(large.iterators, (std::vector<int>{1, 3, 4}));
  EXPECT_EQ(large.forms.size(), 2u);
}

TEST_F(GuardTest, SharesAreThoseOfAllTiles) {
  constexpr int seed = 7;
  std::mt19937 random(seed);
  auto number = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  for (int round = 0; round < 300; ++round) {
    Guard guard{{0, 1, 2}, {}};
    for (int form = number(1, 3); form > 0; --form)
      guard.forms.push_back({{number(-2, 2), number(-2, 2), number(-2, 2)}, number(-6, 12)});
    std::vector<double> extent, points;
    for (int i = 0; i < 3; ++i) {
      extent.push_back(number(1, 9));
      points.push_back(number(1, 4));
    }
    int all = 0, some = 0, whole = 0;
    auto corner = [&](int i, int tile, bool last) {
      const auto begin = tile * static_cast<int>(std::min(points[i], extent[i]));
      return last ? std::min(begin + static_cast<int>(std::min(points[i], extent[i])), static_cast<int>(extent[i])) - 1
                  : begin;
    };
    auto tiles = [&](int i) { return static_cast<int>(std::ceil(extent[i] / std::min(points[i], extent[i]))); };
    for (int a = 0; a < tiles(0); ++a)
      for (int b = 0; b < tiles(1); ++b)
        for (int c = 0; c < tiles(2); ++c) {
          const int tile[] = {a, b, c};
          bool any = true, every = true;
          for (const auto& form : guard.forms) {
            auto least = form.constant, most = form.constant;
            for (int i = 0; i < 3; ++i) {
              const auto low = form.factor[i] * corner(i, tile[i], false),
                         high = form.factor[i] * corner(i, tile[i], true);
              least += std::min(low, high);
              most += std::max(low, high);
            }
            any = any && most >= 0;
            every = every && least >= 0;
          }
          ++all;
          some += any;
          whole += every;
        }
    const auto shares = guarded_shares(guard, extent, points);
    EXPECT_DOUBLE_EQ(shares.some, static_cast<double>(some) / all) << "round " << round << ", seed " << seed;
    EXPECT_DOUBLE_EQ(shares.all, static_cast<double>(whole) / all) << "round " << round << ", seed " << seed;
  }
}

TEST_F(GuardTest, WhatPaddingLeavesOutTakesNoTime) {
  const auto target = Target::parse("cpu:avx512,core=zen4,cores=2,l1=32k,l2=1m,l3=16m");
  const auto guarded = priced(convolution(3, inside(3)), target), whole = priced(convolution(3, "h >= 0"), target);
  auto operations = [&](const PricedCluster& cluster, const std::string& text) {
    return price(cluster, polyhedral::parse_mapping(text).clusters.at(0), 1 << 18).core.operations;
  };
  const std::string along_filters = "register 16x1x3, I: i0 x16, U: i0 x16, stage O",
                    along_window = "register 4x1x16, I: i2 x16, U: i2 x16, stage O";
  constexpr double left = 7.0 / 9;  // of 3 rows and 3 taps, two do not meet the image
  EXPECT_NEAR(operations(guarded, along_filters), left * left * operations(whole, along_filters), 1e-6)
      << "the loop over channels is innermost: each case has one of its own";
  EXPECT_GT(operations(guarded, along_window), left * left * operations(whole, along_window)) << "lanes have masks";
}

TEST_F(GuardTest, WhatPaddingLeavesOutDoesNotComeFromFar) {
  const auto target = Target::parse("cpu:avx512,core=zen4,cores=2,l1=4k,l2=1m,l3=16m");
  auto far = [&](const std::string& conditions) {
    return price(priced(convolution(3, conditions), target), mapping("register 16x1x3, I: i0 x16, U: i0 x16, stage O"),
                 1 << 18)
        .far[0]
        .bytes;
  };
  constexpr double left = 7.0 / 9;
  EXPECT_LT(far(inside(3)), far("h >= 0"));
  EXPECT_GE(far(inside(3)), left * left * far("h >= 0"));
}

}  // namespace
}  // namespace tc::strategy
