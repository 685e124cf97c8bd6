#include "tc/graph/layout_alternatives.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tc/base/contains.h"
#include "tc/layout/map/names.h"
#include "test/graph/graph_fixture.h"

namespace tc::graph {
namespace {

using layout::Layout;
using layout::named_layout;

/// The alternatives of the only node of \p text.
std::vector<OperandLayouts> alternatives(const std::string& text, const std::vector<std::vector<std::int64_t>>& shapes,
                                         const AlternativeOptions& options = {}) {
  const auto graph = bound(text, shapes);
  return layout_alternatives(*graph.nodes.at(0).def, lang::bind_sizes(graph.nodes[0].def->def, shapes), options);
}

const char* const conv =
    "def f(float(N,C,H,W) X, float(O,C,R,S) K) -> (Y) { Y(n,o,h,w) +=! X(n,c,h+r,w+s) * K(o,c,r,s) }";

TEST(LayoutAlternatives, OfAConvolutionAreChannelsLastAndBlocks) {
  const auto found = alternatives(conv, {{1, 32, 8, 8}, {64, 32, 3, 3}});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0], OperandLayouts(3));
  EXPECT_EQ(found[1], (OperandLayouts{named_layout("NHWC"), named_layout("HWIO"), named_layout("NHWC")}));
  EXPECT_EQ(found[2], (OperandLayouts{named_layout("NCHW16c"), named_layout("OIhw16i16o"), named_layout("NCHW16c")}));
}

TEST(LayoutAlternatives, ChannelsThatNoBlockDividesStayWhole) {
  const auto found = alternatives(conv, {{1, 3, 8, 8}, {64, 3, 3, 3}});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[2], (OperandLayouts{Layout(), named_layout("OIhw16o"), named_layout("NCHW16c")}));
  EXPECT_EQ(alternatives(conv, {{1, 3, 8, 8}, {10, 3, 3, 3}}).size(), 2u);
}

TEST(LayoutAlternatives, OfAGroupedConvolutionKeepGroupsOutside) {
  const auto found = alternatives(
      "def f(float(N,G,C,H,W) X, float(G,O,C,R,S) K) -> (Y) { Y(n,g,o,h,w) +=! X(n,g,c,h+r,w+s) * K(g,o,c,r,s) }",
      {{1, 4, 16, 8, 8}, {4, 16, 16, 3, 3}});
  const auto blocked = Layout().split(2, {16}).reorder({0, 1, 2, 4, 5, 3});
  EXPECT_TRUE(
      std::any_of(found.begin(), found.end(), [&](const auto& l) { return l[0] == blocked && l[2] == blocked; }));
}

TEST(LayoutAlternatives, OfADepthwiseConvolutionAreThoseOfItsOneChannel) {
  const auto found =
      alternatives("def f(float(N,C,H,W) X, float(C,R,S) K) -> (Y) { Y(n,c,h,w) +=! X(n,c,h+r,w+s) * K(c,r,s) }",
                   {{1, 32, 8, 8}, {32, 3, 3}});
  const auto blocked = named_layout("NCHW16c");
  EXPECT_TRUE(contains(found, OperandLayouts({blocked, Layout().split(0, {16}).reorder({0, 2, 3, 1}), blocked})));
}

TEST(LayoutAlternatives, OfAProductTransposeOrBlock) {
  const auto found =
      alternatives("def f(float(M,K) A, float(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }", {{32, 64}, {48, 64}});
  const auto transposed = Layout().reorder({1, 0});
  EXPECT_TRUE(contains(found, OperandLayouts({Layout(), transposed, Layout()})));
}

TEST(LayoutAlternatives, OfAPaddingFollowItsChannels) {
  const auto found = alternatives(
      "def f(float(N,C,H,W) X) -> (P) { P(n,c,h,w) = h >= 1 && h <= 8 ? X(n,c,h-1,w) : 0 where h in 0:10 }",
      {{1, 32, 8, 8}});
  const auto last = named_layout("NHWC");
  EXPECT_TRUE(contains(found, OperandLayouts({last, last})));
  EXPECT_TRUE(std::none_of(found.begin(), found.end(), [](const auto& layouts) {
    return layouts[0] == Layout().reorder({0, 1, 3, 2});
  })) << "rows are guarded, they do not move";
}

TEST(LayoutAlternatives, OfAConcatenationMoveChannelsAsAWhole) {
  const auto found = alternatives(
      "def f(float(N,C,H,W) A, float(N,D,H,W) B) -> (Y) {"
      " Y(n,c,h,w) = c < C ? A(n,c,h,w) : B(n,c - C,h,w) where c in 0:C + D }",
      {{1, 32, 8, 8}, {1, 64, 8, 8}});
  EXPECT_TRUE(contains(found, OperandLayouts(3, named_layout("NHWC"))));
  EXPECT_TRUE(std::none_of(found.begin(), found.end(), [](const auto& layouts) {
    return layouts[0] == named_layout("NCHW16c") || layouts[1] == named_layout("NCHW16c");
  })) << "a block may hold channels of both";
}

TEST(LayoutAlternatives, ConstantsAloneAreInPanels) {
  const AlternativeOptions alone{16, {1}, false, true};
  const auto found = alternatives(conv, {{1, 32, 8, 8}, {64, 32, 3, 3}}, alone);
  EXPECT_EQ(found, (std::vector<OperandLayouts>{OperandLayouts(3), {Layout(), named_layout("OIhw16o"), Layout()}}));
  EXPECT_EQ(alternatives(conv, {{1, 32, 8, 8}, {70, 32, 3, 3}}, alone).size(), 2u) << "the last one is partial";
  EXPECT_EQ(alternatives(conv, {{1, 32, 8, 8}, {10, 32, 3, 3}}, alone).size(), 1u) << "less than a panel";
  EXPECT_EQ(alternatives(conv, {{1, 32, 8, 8}, {64, 32, 3, 3}}, {16, {}, false, true}).size(), 1u);
  EXPECT_TRUE(contains(alternatives(conv, {{1, 32, 8, 8}, {64, 32, 3, 3}}, {16, {1}}), found[1]));
  const auto wide = alternatives("def f(double(M,K) A, double(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }",
                                 {{32, 64}, {48, 64}}, alone);
  EXPECT_TRUE(contains(wide, OperandLayouts({Layout(), Layout().split(0, {8}).reorder({0, 2, 1}), Layout()})));
}

TEST(LayoutAlternatives, MixedOnesLeaveOperandsAsTheyAre) {
  const auto found = alternatives(conv, {{1, 32, 8, 8}, {64, 32, 3, 3}}, {16, {1}, true});
  const auto blocked = named_layout("NCHW16c"), weights = named_layout("OIhw16i16o");
  for (const auto& layouts : {OperandLayouts{blocked, weights, Layout()}, OperandLayouts{Layout(), weights, blocked},
                              OperandLayouts{Layout(), weights, Layout()}, OperandLayouts{blocked, weights, blocked}})
    EXPECT_TRUE(contains(found, layouts));
}

TEST(LayoutAlternatives, ThereAreNoneWhereDataDecideWhatIsRead) {
  EXPECT_EQ(alternatives("def f(float(E,D) T, int64(N) I) -> (Y) { Y(n,d) = T(I(n),d) }", {{8, 16}, {4}}).size(), 1u);
}

}  // namespace
}  // namespace tc::graph
