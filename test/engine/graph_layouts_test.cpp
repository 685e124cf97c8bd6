#include "tc/engine/graph/graph_layouts.h"

#include <gtest/gtest.h>

#include <random>

#include "tc/base/str.h"
#include "tc/engine/compile/graph_interpreter.h"
#include "tc/graph/bind.h"
#include "tc/graph/choose_graph_layouts.h"
#include "tc/graph/lay_out.h"
#include "test/engine/engine_fixture.h"
#include "test/support/expect_error.h"
#include "test/support/from_environment.h"

/// Graphs whose tensors get layouts, compiled and interpreted.
namespace tc::engine {
namespace {

const std::string operators =
    "def conv(float(N,C,H,W) X, float(O,C,R,S) K) -> (Y) { Y(n,o,h,w) +=! X(n,c,h+r,w+s) * K(o,c,r,s) }\n"
    "def pad(float(N,C,H,W) X) -> (Y) { Y(n,c,h,w) = h >= 1 && h <= H && w >= 1 && w <= W ? X(n,c,h-1,w-1) : 0 "
    "where h in 0:H+2, w in 0:W+2 }\n"
    "def each(float(N,C,H,W) X, float(C,R,S) K) -> (Y) { Y(n,c,h,w) +=! X(n,c,h+r,w+s) * K(c,r,s) }\n"
    "def bound(float(N,C,H,W) X, float(C) b) -> (Y) { Z(n,c,h,w) = X(n,c,h,w) + b(c)  Y(n,c,h,w) = "
    "fmin(fmax(Z(n,c,h,w), -8), 8) }\n"
    "def add(float(N,C,H,W) X, float(N,C,H,W) Z) -> (Y) { Y(n,c,h,w) = X(n,c,h,w) + Z(n,c,h,w) }\n"
    "def pool(float(N,C,H,W) X) -> (Y) { Y(n,c,h,w) max=! X(n,c,h+r,w+s) where r in 0:3, s in 0:3, h in 0:H-2, w in "
    "0:W-2 }\n";

/// A network of some of the operators, whose tensors keep 8 channels of 6 x 6.
std::string network(std::mt19937_64& random) {
  std::string text =
      "def main(float(N,C,H,W) X, float(C,C,R,S) K, float(C,R,S) D, float(C,C,1,1) P, float(C) b) -> (Y, V) {\n";
  std::vector<std::string> made{"X"};
  auto any = [&] { return made[random() % made.size()]; };
  const int count = 4 + static_cast<int>(random() % 5);
  for (int k = 0; k < count; ++k) {
    const auto name = k + 1 == count ? std::string("Y") : k + 2 == count ? std::string("V") : str("T", k);
    const auto from = made.size() > 1 && random() % 3 != 0 ? made.back() : any();
    switch (random() % 6) {
      case 0:
        text += str("  A", k, " = pad(", from, ")  B", k, " = conv(A", k, ", K)  ", name, " = bound(B", k, ", b)\n");
        break;
      case 1:
        text += str("  B", k, " = conv(", from, ", P)  ", name, " = bound(B", k, ", b)\n");
        break;
      case 2:
        text += str("  A", k, " = pad(", from, ")  B", k, " = each(A", k, ", D)  ", name, " = bound(B", k, ", b)\n");
        break;
      case 3:
        text += str("  ", name, " = add(", from, ", ", any(), ")\n");
        break;
      case 4:
        text += str("  A", k, " = pad(", from, ")  ", name, " = pool(A", k, ")\n");
        break;
      default:
        text += str("  ", name, " = bound(", from, ", b)\n");
    }
    made.push_back(name);
  }
  return operators + text + "}\n";
}

struct Inputs {
  Floats x = count_up({1, 8, 6, 6}), k = count_up({8, 8, 3, 3}), d = count_up({8, 3, 3}), p = count_up({8, 8, 1, 1}),
         b = count_up({8});
  std::vector<TensorView> views() { return {x, k, d, p, b}; }
  std::vector<TensorSpec> specs() { return {x, k, d, p, b}; }
};

/// Both results of \p graph by the interpreter, where tensors between nodes begin as NaN.
std::pair<std::vector<float>, std::vector<float>> interpreted(const Function& function, const graph::Graph& graph,
                                                              Inputs& inputs) {
  Floats y({1, 8, 6, 6}, -77), v({1, 8, 6, 6}, -77);
  std::vector<void*> pointers;
  for (const auto& view : inputs.views()) pointers.push_back(view.data);
  pointers.push_back(y.data);
  pointers.push_back(v.data);
  graph_interpreter(graph, make_arguments(function, inputs.specs(), {}))(pointers.data());
  return {y.values, v.values};
}

/// Prices without a meaning, the same for the same question.
graph::GraphLayoutOptions random_prices(std::uint64_t seed, graph::LayoutMode mode) {
  graph::GraphLayoutOptions options;
  options.block = 4;
  options.mode = mode;
  options.constants = {"K", "P"};
  options.seconds = [seed](const graph::Node& node, const graph::OperandLayouts& layouts) {
    std::string text = str(seed, node.callee);
    for (const auto& layout : layouts) text += to_string(layout);
    return std::optional(static_cast<double>(1 + std::hash<std::string>()(text) % 16));
  };
  options.conversion_seconds = [](const graph::Tensor&) { return 1.0; };
  return options;
}

constexpr graph::LayoutMode ablated[] = {graph::LayoutMode::Adjacent, graph::LayoutMode::Forward,
                                         graph::LayoutMode::Backward};

/// TC_LAYOUT_GRAPHS networks from TC_LAYOUT_FIRST on.
TEST(GraphLayouts, RandomNetworksInRandomLayoutsComputeTheSame) {
  const auto first = test::from_environment("TC_LAYOUT_FIRST", 1),
             count = test::from_environment("TC_LAYOUT_GRAPHS", 2);
  std::size_t placed = 0, converted = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    std::mt19937_64 random(seed);
    const auto text = network(random);
    SCOPED_TRACE(str("seed ", seed, "\n", text));
    const auto function = define(text).functions.back();
    Inputs inputs;
    const auto graph = graph::bind(function->defs, "main", inputs.specs()).value();
    const auto wanted = interpreted(*function, graph, inputs);
    for (const auto mode : {seed % 2 == 0 ? graph::LayoutMode::Fold : graph::LayoutMode::Resolve, ablated[seed % 3]}) {
      const auto chosen = graph::choose_graph_layouts(graph, random_prices(seed, mode));
      const auto made = graph::lay_out(graph, chosen.resolution);
      placed += made.placed.size();
      converted += made.conversions.size();
      EXPECT_EQ(interpreted(*function, made.graph, inputs), wanted) << to_string(mode);
      const auto again = define(to_text(made.graph)).functions.back();
      EXPECT_EQ(again->name(), "main") << "the graph prints as TC";
    }
  }
  EXPECT_GT(placed, 2 * count);
  EXPECT_GT(converted, count);
}

TEST(GraphLayouts, ACompileTellsWhatItChoseAndComputesTheSame) {
  std::mt19937_64 random(3);
  const auto function = define(network(random)).functions.back();
  Inputs inputs;
  Floats y({1, 8, 6, 6}), v({1, 8, 6, 6}), y2({1, 8, 6, 6}), v2({1, 8, 6, 6});
  compile(function, inputs.specs(), {}, checked())->run(inputs.views(), std::vector<TensorView>{y, v});
  for (const auto mode : {graph::LayoutMode::Resolve, graph::LayoutMode::Fold, graph::LayoutMode::Adjacent}) {
    auto options = checked();
    options.layouts = mode;
    const auto executable = compile(function, inputs.specs(), {}, options);
    executable->run(inputs.views(), std::vector<TensorView>{y2, v2});
    EXPECT_EQ(y.values, y2.values);
    EXPECT_EQ(v.values, v2.values);
    EXPECT_EQ(executable->stats().layouts.empty(), executable->stats().graph.empty());
  }
  EXPECT_ERROR(graph::parse_layout_mode("on"), OptionsError, "'off', 'constants', 'resolve', 'fold', 'adjacent'");
}

TEST(GraphLayouts, ConstantsAreConvertedByTheCompile) {
  const auto function = define(
                            "def apply(float(N,C) X, float(H,K,C) W) -> (Y) { Y(n,h,k) +=! X(n,c) * W(h,k,c) }\n"
                            "def main(float(N,C) X, float(H,K,C) W) -> (Y) { Y = apply(X, W) }")
                            .functions.back();
  auto x = count_up({4, 32}), w = count_up({64, 128, 32});
  Floats y({4, 64, 128}), y2({4, 64, 128});
  auto options = checked();
  options.constants = {{"W", w, std::shared_ptr<void>(w.data, [](void*) {}), {}}};
  compile(function, {x, w}, {}, options)->run(std::vector<TensorView>{x}, std::vector<TensorView>{y});
  options.layouts = graph::LayoutMode::Resolve;
  const auto executable = compile(function, {x, w}, {}, options);
  executable->run(std::vector<TensorView>{x}, std::vector<TensorView>{y2});
  EXPECT_EQ(y.values, y2.values);
  EXPECT_EQ(executable->image().parts, 1u) << "the conversion is no part of a run";
  ASSERT_FALSE(executable->stats().layouts.empty()) << "weights by k are read along vectors";
  EXPECT_NE(executable->stats().layouts.front().find("W: "), std::string::npos);
  EXPECT_NE(executable->stats().layouts.front().find("converted once"), std::string::npos);
  const auto graph = graph::bind(function->defs, "main", {x, w}).value();
  EXPECT_FALSE(choose_layouts(graph, {})) << "no constants";
  options.layouts = graph::LayoutMode::Off;
  EXPECT_TRUE(compile(function, {x, w}, {}, options)->stats().layouts.empty());
}

TEST(GraphLayouts, ConstantsAreInThePanelsThatTilesRead) {
  const auto function = define(
                            "def conv(float(N,C,H,W) X, float(O,C,R,S) K) -> (Y) {\n"
                            "  Y(n,o,h,w) +=! X(n,c,h+r,w+s) * K(o,c,r,s) }\n"
                            "def main(float(N,C,H,W) X, float(C,C,R,S) K, float(C) b) -> (Y) {\n"
                            "  A = conv(X, K)  Y(n,c,h,w) = fmax(A(n,c,h,w) + b(c), 0) }")
                            .functions.back();
  auto x = count_up({1, 70, 8, 8}), k = count_up({70, 70, 3, 3}), b = count_up({70});
  Floats y({1, 70, 6, 6}), y2({1, 70, 6, 6});
  auto options = checked();
  auto borrowed = [](const std::string& name, Floats& array) {
    return Constant{name, array, {array.data, [](void*) {}}, std::nullopt};
  };
  options.constants = {borrowed("K", k), borrowed("b", b)};
  const auto executable = compile(function, {x, k, b}, {}, options);
  ASSERT_EQ(executable->stats().layouts.size(), 2u);
  EXPECT_EQ(executable->stats().layouts.front(), "K: split(0, 16) reorder(0, 2, 3, 4, 1), converted once");
  EXPECT_EQ(executable->image().parts, 1u);
  executable->run(std::vector<TensorView>{x}, std::vector<TensorView>{y});
  options.layouts = graph::LayoutMode::Off;
  compile(function, {x, k, b}, {}, options)->run(std::vector<TensorView>{x}, std::vector<TensorView>{y2});
  EXPECT_EQ(y.values, y2.values);
}

}  // namespace
}  // namespace tc::engine
