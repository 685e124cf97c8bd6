#include "tc/layout/rewrite/layout_template.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "test/layout/layout_fixture.h"
#include "test/support/expect_error.h"

namespace tc::test {
namespace {

struct Operator {
  const char* name;
  std::string text;
  lang::SizeMap sizes;
  std::string tunables;
};

/// The nine operators of ALT.
const std::vector<Operator> operators = {
    {"C1D",
     "def f(float(N,C,W) X, float(O,C,S) K) -> (Y) { Y(n,o,w) +=! X(n,c,w+s) * K(o,c,s) }",
     {{"N", 2}, {"C", 6}, {"W", 12}, {"O", 8}, {"S", 3}},
     "o: Y 1; w: Y 2, X 2; c: X 1; K.o: K 0; K.c: K 1"},
    {"C2D",
     "def f(float(N,C,H,W) X, float(O,C,R,S) K) -> (Y) { Y(n,o,h,w) +=! X(n,c,h+r,w+s) * K(o,c,r,s) }",
     {{"N", 1}, {"C", 5}, {"H", 9}, {"W", 8}, {"O", 6}, {"R", 3}, {"S", 2}},
     "o: Y 1; h: Y 2, X 2; w: Y 3, X 3; c: X 1; K.o: K 0; K.c: K 1"},
    {"C3D",
     "def f(float(N,C,D,H,W) X, float(O,C,T,R,S) K) -> (Y) {"
     " Y(n,o,d,h,w) +=! X(n,c,d+t,h+r,w+s) * K(o,c,t,r,s) }",
     {{"N", 1}, {"C", 3}, {"D", 5}, {"H", 5}, {"W", 6}, {"O", 4}, {"T", 2}, {"R", 3}, {"S", 2}},
     "o: Y 1; d: Y 2, X 2; h: Y 3, X 3; w: Y 4, X 4; c: X 1; K.o: K 0; K.c: K 1"},
    {"GRP",
     "def f(float(N,G,C,H,W) X, float(G,O,C,R,S) K) -> (Y) { Y(n,g,o,h,w) +=! X(n,g,c,h+r,w+s) * K(g,o,c,r,s) }",
     {{"N", 1}, {"G", 4}, {"C", 3}, {"H", 6}, {"W", 5}, {"O", 4}, {"R", 2}, {"S", 2}},
     "g: Y 1, X 1; o: Y 2; h: Y 3, X 3; w: Y 4, X 4; c: X 2; K.g: K 0; K.o: K 1; K.c: K 2"},
    {"DEP",
     "def f(float(N,C,H,W) X, float(C,R,S) K) -> (Y) { Y(n,c,h,w) +=! X(n,c,2*h+r,2*w+s) * K(c,r,s) }",
     {{"N", 2}, {"C", 7}, {"H", 11}, {"W", 9}, {"R", 3}, {"S", 3}},
     "c: Y 1, X 1; h: Y 2, X 2; w: Y 3, X 3; K.c: K 0"},
    {"DIL",
     "def f(float(N,C,H,W) X, float(O,C,R,S) K) -> (Y) { Y(n,o,h,w) +=! X(n,c,h+2*r,w+2*s) * K(o,c,r,s) }",
     {{"N", 1}, {"C", 4}, {"H", 10}, {"W", 9}, {"O", 5}, {"R", 3}, {"S", 3}},
     "o: Y 1; h: Y 2, X 2; w: Y 3, X 3; c: X 1; K.o: K 0; K.c: K 1"},
    {"GMM",
     "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
     {{"M", 9}, {"K", 7}, {"N", 10}},
     "m: C 0, A 0; n: C 1, B 1; k: A 1, B 0"},
    {"T2D",
     "def f(float(N,C,H,W) X, float(C,O,R,S) K) -> (Y) {"
     " Y(n,o,h,w) +=! (h >= r && h-r < 2*H && (h-r) % 2 == 0 && w >= s && w-s < 2*W && (w-s) % 2 == 0)"
     " ? X(n,c,(h-r)/2,(w-s)/2) * K(c,o,r,s) : 0 where h in 0:2*H+R-2, w in 0:2*W+S-2 }",
     {{"N", 1}, {"C", 3}, {"H", 4}, {"W", 3}, {"O", 4}, {"R", 4}, {"S", 3}},
     "o: Y 1; h: Y 2; w: Y 3; c: X 1; K.c: K 0; K.o: K 1"},
    {"T3D",
     "def f(float(N,C,D,H,W) X, float(C,O,T,R,S) K) -> (Y) {"
     " Y(n,o,d,h,w) +=! (d >= t && d-t < D && h >= r && h-r < H && w >= s && w-s < W)"
     " ? X(n,c,d-t,h-r,w-s) * K(c,o,t,r,s) : 0 where d in 0:D+T-1, h in 0:H+R-1, w in 0:W+S-1 }",
     {{"N", 1}, {"C", 2}, {"D", 3}, {"H", 3}, {"W", 4}, {"O", 4}, {"T", 2}, {"R", 2}, {"S", 3}},
     "o: Y 1; d: Y 2; h: Y 3; w: Y 4; c: X 1; K.c: K 0; K.o: K 1"},
};

std::string text_of(const layout::LayoutTemplate& found) {
  std::vector<std::string> tunables;
  for (const auto& tunable : found.tunables) {
    std::vector<std::string> places;
    for (const auto& [tensor, dim] : tunable.places) places.push_back(str(tensor, " ", dim));
    tunables.push_back(str(tunable.name, ": ", join(places)));
  }
  return join(tunables, "; ");
}

TEST(LayoutTemplate, TunablesOfTheNineOperators) {
  for (const auto& one : operators) {
    const auto def = sized_def(one.text, one.sizes);
    EXPECT_EQ(text_of(layout::layout_template(def.function, def.sizes)), one.tunables) << one.name;
  }
}

/// ALT's own template of a convolution, in the dimensions of NCHW.
TEST(LayoutTemplate, OfAConvolution) {
  const auto def =
      sized_def(operators[1].text, {{"N", 1}, {"C", 6}, {"H", 10}, {"W", 10}, {"O", 8}, {"R", 3}, {"S", 3}});
  const auto made = layout::layout_template(def.function, def.sizes).layouts({4, 4, 2, 3, 8, 1});
  EXPECT_EQ(to_string(made.of.at("Y")), "split(1, 4) split(3, 4) split(5, 2) reorder(0, 3, 5, 1, 4, 6, 2)");
  EXPECT_EQ(to_string(made.of.at("X")), "split(1, 3) unfold(3, 6, 4) unfold(5, 4, 2) reorder(0, 3, 5, 1, 4, 6, 2)");
  EXPECT_EQ(to_string(made.of.at("K")), "reorder(1, 2, 3, 0)") << "all channels of the result, none of the image";
}

TEST(LayoutTemplate, TilesOfOneStayAndWindowsBecomeColumns) {
  const auto def = sized_def(operators[1].text, operators[1].sizes);
  const auto made = layout::layout_template(def.function, def.sizes).layouts({1, 1, 1, 1, 1, 1});
  EXPECT_EQ(to_string(made.of.at("Y")), "reorder(0, 2, 3, 1)") << "tiles of space stand before those of channels";
  EXPECT_EQ(made.of.count("K"), 0u);
  EXPECT_EQ(to_string(made.of.at("X")), "unfold(2, 3, 1) unfold(4, 2, 1) reorder(0, 2, 4, 1, 3, 5)");
}

/// Ten configurations of each, whether the tiles divide or not: proved, and equal on integers with holes of NaN.
TEST(LayoutTemplate, NinetyRandomConfigurationsAreRight) {
  std::mt19937_64 random(2);
  for (const auto& one : operators) {
    const auto def = sized_def(one.text, one.sizes);
    const auto found = layout::layout_template(def.function, def.sizes);
    for (int k = 0; k < 10; ++k) {
      std::vector<std::int64_t> tiles;
      for (const auto& tunable : found.tunables)
        tiles.push_back(1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(tunable.extent)));
      EXPECT_EQ(compare_layouts(def, found.layouts(tiles), static_cast<std::uint64_t>(k)), "")
          << one.name << " " << join(tiles);
    }
  }
}

/// The same with tiles in tiles.
TEST(LayoutTemplate, TwoLevelsOfTilesAreRight) {
  std::mt19937_64 random(3);
  for (const auto& one : operators) {
    const auto def = sized_def(one.text, one.sizes);
    const auto found = layout::layout_template(def.function, def.sizes);
    for (int k = 0; k < 2; ++k) {
      std::vector<std::int64_t> tiles, counts;
      for (const auto& tunable : found.tunables) {
        tiles.push_back(1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(tunable.extent)));
        counts.push_back(1 + static_cast<std::int64_t>(random() % std::min<std::uint64_t>(3, tunable.extent)));
      }
      EXPECT_EQ(compare_layouts(def, found.layouts(tiles, counts), static_cast<std::uint64_t>(k)), "")
          << one.name << " " << join(tiles) << " in " << join(counts);
    }
  }
}

TEST(LayoutTemplate, AnOuterTileIsOfSoManyTiles) {
  const auto def = sized_def("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
                             {{"M", 64}, {"K", 8}, {"N", 64}});
  const auto found = layout::layout_template(def.function, def.sizes);
  const auto layouts = found.layouts({4, 8, 1}, {2, 8, 1});
  EXPECT_EQ(to_string(layouts.of.at("C")), "split(0, 2, 4) split(3, 8) reorder(0, 1, 3, 2, 4)")
      << "eight tiles of 8 are all of n, so n has one level";
  EXPECT_EQ(found.layouts({4, 8, 1}, {1, 1, 1}).of, found.layouts({4, 8, 1}).of);
  EXPECT_ERROR(found.layouts({4, 8, 1}, {1, 1}), OptionsError, "is given 3 and 2 numbers of tiles");
  EXPECT_ERROR(found.layouts({4, 8, 1}, {0, 1, 1}), OptionsError, "the outer tile of m has 0 tiles");
}

TEST(LayoutTemplate, WhatIsRefused) {
  const auto def = sized_def(operators[6].text, operators[6].sizes);
  const auto found = layout::layout_template(def.function, def.sizes);
  EXPECT_ERROR(found.layouts({1, 2}), OptionsError, "a template of 3 tile sizes is given 2");
  EXPECT_ERROR(found.layouts({1, 2, 8}), OptionsError, "the tile size k is 8, it must be in 1 to 7");
  const auto copy = sized_def("def f(float(N) X) -> (Y) { Y(i) = X(i) }", {{"N", 4}});
  EXPECT_TRUE(layout::layout_template(copy.function, copy.sizes).tunables.empty());
}

}  // namespace
}  // namespace tc::test
