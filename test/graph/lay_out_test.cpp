#include "tc/graph/lay_out.h"

#include <gtest/gtest.h>

#include "tc/graph/choose_graph_layouts.h"
#include "tc/layout/map/names.h"
#include "test/graph/graph_fixture.h"

/// Graphs in layouts.
namespace tc::graph {
namespace {

using layout::named_layout;

const std::string net =
    "def conv(float(N,C,H,W) X, float(O,C,R,S) K) -> (Y) { Y(n,o,h,w) +=! X(n,c,h+r,w+s) * K(o,c,r,s) }\n"
    "def positive(float(N,C,H,W) X) -> (Y) { Y(n,c,h,w) = fmax(X(n,c,h,w), 0) }\n"
    "def main(float(N,C,H,W) X, float(C,C,R,S) K, float(C,C,R,S) L) -> (Y) {\n"
    "  A = conv(X, K)  B = positive(A)  Y = conv(B, L)\n}\n";

Graph net_graph() { return bound(net, {{1, 16, 8, 8}, {16, 16, 3, 3}, {16, 16, 3, 3}}); }

/// Prices by which blocks are worth three times what copying a tensor costs.
GraphLayoutOptions likes_blocks(double conversion) {
  GraphLayoutOptions options;
  options.constants = {"K", "L"};
  options.seconds = [](const Node&, const OperandLayouts& layouts) {
    return layouts.back() == named_layout("NCHW16c") ? 1.0 : 4.0;
  };
  options.conversion_seconds = [conversion](const Tensor&) { return conversion; };
  return options;
}

TEST(LayOut, TensorsBetweenNodesStayInBlocksAndEndsAreConverted) {
  const auto graph = net_graph();
  const auto chosen = choose_graph_layouts(graph, likes_blocks(1));
  EXPECT_EQ(chosen.plain_seconds, 8);
  EXPECT_EQ(chosen.seconds, 4) << "two convolutions, the input and the result converted";
  const auto made = lay_out(graph, chosen.resolution);
  EXPECT_EQ(made.conversions.size(), 4u) << "X, K, L, Y";
  EXPECT_EQ(made.graph.nodes.size(), 7u);
  const auto text = to_text(made.graph);
  EXPECT_EQ(last_def(text),
            "def main(float32(1, 16, 8, 8) X, float32(16, 16, 3, 3) K, float32(16, 16, 3, 3) L) -> (float32 Y) {\n"
            "  X_laid = convert(X)\n"
            "  K_laid = convert_1(K)\n"
            "  L_laid = convert_1(L)\n"
            "  A_laid = conv_laid(X_laid, K_laid)\n"
            "  B_laid = positive_laid(A_laid)\n"
            "  Y_laid = conv_laid_1(B_laid, L_laid)\n"
            "  Y = convert_2(Y_laid)\n"
            "}\n");
}

TEST(LayOut, WhereCopiesCostMoreThanTheySaveNothingChanges) {
  const auto graph = net_graph();
  const auto chosen = choose_graph_layouts(graph, likes_blocks(4));
  EXPECT_EQ(chosen.seconds, chosen.plain_seconds);
  const auto made = lay_out(graph, chosen.resolution);
  EXPECT_TRUE(made.placed.empty());
  EXPECT_EQ(to_text(made.graph), to_text(graph));
}

TEST(LayOut, NodesThatNobodyPricesStay) {
  auto options = likes_blocks(1);
  options.seconds = [](const Node&, const OperandLayouts&) { return std::nullopt; };
  const auto graph = net_graph();
  EXPECT_TRUE(lay_out(graph, choose_graph_layouts(graph, options).resolution).placed.empty());
}

TEST(LayOut, FoldedConversionsAreAccessesOfTheNodesBesideThem) {
  auto options = likes_blocks(1);
  options.mode = LayoutMode::Fold;
  options.seconds = [](const Node&, const OperandLayouts& layouts) {
    return layouts[1] == named_layout("OIhw16i16o") ? 1.0 : 4.0;
  };
  const auto graph = net_graph();
  const auto made = lay_out(graph, choose_graph_layouts(graph, options).resolution);
  EXPECT_EQ(made.conversions.size(), 2u) << "those of the weights";
}

/// An activation that reads blocks and writes rows copies as a conversion does: folding it is not for nothing.
TEST(LayOut, ElementWiseNodesThatConvertCostWhatConversionsDo) {
  const auto graph = bound(
      "def conv(float(N,C,H,W) X, float(O,C,R,S) K) -> (Y) { Y(n,o,h,w) +=! X(n,c,h+r,w+s) * K(o,c,r,s) }\n"
      "def positive(float(N,C,H,W) X) -> (Y) { Y(n,c,h,w) = fmax(X(n,c,h,w), 0) }\n"
      "def main(float(N,C,H,W) X, float(C,C,R,S) K) -> (Y) { A = conv(X, K)  Y = positive(A) }\n",
      {{1, 16, 8, 8}, {16, 16, 3, 3}});
  for (const double conversion : {1.0, 4.0}) {
    auto options = likes_blocks(conversion);
    options.mode = LayoutMode::Fold;
    const auto chosen = choose_graph_layouts(graph, options);
    EXPECT_EQ(chosen.seconds, conversion == 1 ? 2 : 4) << conversion;
  }
}

/// Two convolutions that like different layouts each get theirs, and one conversion stands between them, or the padding there makes
/// it at the same price: cheaper than the layout of the first, or of the second, for both.
TEST(LayOut, ConvolutionsChooseEachForItself) {
  const auto graph = bound(
      "def conv(float(N,C,H,W) X, float(O,C,R,S) K) -> (Y) { Y(n,o,h,w) +=! X(n,c,h+r,w+s) * K(o,c,r,s) }\n"
      "def pad(float(N,C,H,W) X) -> (Y) { Y(n,c,h,w) = h >= 1 && h <= H && w >= 1 && w <= W ? X(n,c,h-1,w-1) : 0 "
      "where h in 0:H+2, w in 0:W+2 }\n"
      "def main(float(N,C,H,W) X, float(C,C,R,S) K, float(C,C,R,S) L) -> (Y) {\n"
      "  A = conv(X, K)  B = pad(A)  Y = conv(B, L)\n}\n",
      {{1, 16, 8, 8}, {16, 16, 3, 3}, {16, 16, 3, 3}});
  for (const bool mixed : {false, true}) {
    auto options = likes_blocks(1);
    options.mode = mixed ? LayoutMode::Fold : LayoutMode::Resolve;
    options.seconds = [&](const Node& node, const OperandLayouts& layouts) {
      const auto& liked = graph.tensors[node.inputs[1]].name == "K" ? "NCHW16c" : "NHWC";
      const bool all = layouts.front() == named_layout(liked) && layouts.back() == named_layout(liked);
      return all ? 1.0 : 10.0;
    };
    const auto chosen = choose_graph_layouts(graph, options);
    EXPECT_EQ(chosen.seconds, 5) << "both, X, one between them, Y";
    const auto made = lay_out(graph, chosen.resolution);
    EXPECT_EQ(made.conversions.size(), 5u) << "K and L among them";
  }
}

/// The switches of ALT's ablation, for a convolution, an activation and a convolution. Blocks save 3 each, a conversion costs 1. Convolutions that
/// read plain images convert as they read. Adjacent: the activation converts, too; Fold: it runs in blocks.
TEST(LayOut, AdjacentNodesPassNoLayoutOn) {
  const auto graph = net_graph();
  auto options = likes_blocks(1);
  const auto activation = [&] {
    const auto chosen = choose_graph_layouts(graph, options);
    const auto& required = chosen.resolution.required[1];
    return std::pair(chosen.seconds, !required[0].is_identity() &&
                                         !chosen.resolution.produced[graph.nodes[1].outputs[0]].is_identity());
  };
  EXPECT_EQ(activation(), std::pair(4.0, true));
  options.mode = LayoutMode::Adjacent;
  EXPECT_EQ(activation(), std::pair(4.0, false)) << "both convolutions, the activation, the result";
  options.mode = LayoutMode::Fold;
  EXPECT_EQ(activation(), std::pair(3.0, true)) << "both convolutions, the result";
}

/// Blocks of all channels of images of one element are the plain memory: only weights are converted.
TEST(LayOut, ImagesOfOneElementNeedNoConversion) {
  const auto graph = bound(
      "def conv(float(N,C,H,W) X, float(O,C,R,S) K) -> (Y) { Y(n,o,h,w) +=! X(n,c,h+r,w+s) * K(o,c,r,s) }\n"
      "def main(float(N,C,H,W) X, float(C,C,R,S) K) -> (Y) { Y = conv(X, K) }\n",
      {{1, 32, 1, 1}, {32, 32, 1, 1}});
  auto options = likes_blocks(1);
  options.constants = {"K"};
  options.seconds = [](const Node&, const OperandLayouts& layouts) {
    return layouts[1] == named_layout("OIhw16i16o") ? 1.0 : 4.0;
  };
  const auto made = lay_out(graph, choose_graph_layouts(graph, options).resolution);
  ASSERT_EQ(made.placed.size(), 1u);
  EXPECT_EQ(graph.tensors[made.placed[0].tensor].name, "K");
}

}  // namespace
}  // namespace tc::graph
