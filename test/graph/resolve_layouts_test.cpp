#include "tc/graph/resolve/resolve_layouts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <utility>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/graph/resolve/branch_and_bound.h"
#include "tc/graph/resolve/minimise.h"
#include "tc/layout/map/names.h"
#include "test/support/expect_error.h"

namespace tc::graph::resolve_layouts_test {
namespace {

using layout::named_layout;

const Layout nchw, nhwc = named_layout("NHWC"), blocked = named_layout("NCHW16c"), hwcn = named_layout("HWCN");

/// Builds graphs node by node.
class Builder {
 public:
  std::size_t input(const std::string& name, const Layout& given = nchw, double weight = 1) {
    graph.tensors.push_back({name, weight, {}, given});
    return graph.tensors.size() - 1;
  }
  /// A node whose inputs and output have one layout, or any.
  std::size_t node(const std::string& name, std::vector<std::size_t> inputs, std::optional<Layout> layout,
                   std::vector<Layout> candidates = {}, double weight = 1) {
    graph.tensors.push_back({name, weight, graph.nodes.size(), {}});
    const std::size_t output = graph.tensors.size() - 1;
    std::vector<std::optional<Layout>> required(inputs.size() + 1, layout);
    graph.nodes.push_back({name, std::move(inputs), {output}, std::move(required), std::move(candidates)});
    return output;
  }
  /// A node that reads one layout and writes another.
  std::size_t between(const std::string& name, std::size_t input, const Layout& from, const Layout& to) {
    const auto output = node(name, {input}, from);
    graph.nodes.back().required.back() = to;
    return output;
  }

  LayoutGraph graph;
};

TEST(ResolveLayouts, AConvolutionThatLikesChannelsLastBeforeOneThatLikesBlocks) {
  Builder b;
  const auto x = b.input("X", nhwc);
  const auto y = b.node("conv", {x}, nhwc);
  const auto r = b.node("relu", {y}, std::nullopt);
  b.node("deconv", {r}, blocked);
  const auto resolution = resolve_layouts(b.graph);
  EXPECT_EQ(resolution.produced[y], nhwc);
  EXPECT_EQ(resolution.produced[r], nhwc);
  ASSERT_EQ(resolution.conversions.size(), 1u);
  EXPECT_EQ(resolution.conversions[0].tensor, r);
  EXPECT_EQ(resolution.conversions[0].to, blocked);
  b.graph.nodes[1].candidates = {nhwc, blocked, nchw};
  EXPECT_EQ(choose_layouts(b.graph, LayoutObjective::Edges).conversions.size(), 1u);
}

TEST(ResolveLayouts, AnyTakesWhatIsProduced) {
  for (const auto& layout : {nhwc, blocked}) {
    Builder b;
    const auto r = b.node("relu", {b.node("conv", {b.input("X", layout)}, layout)}, std::nullopt);
    const auto resolution = resolve_layouts(b.graph);
    EXPECT_EQ(resolution.produced[r], layout);
    EXPECT_TRUE(resolution.conversions.empty());
  }
}

/// Three tensors, concatenated, read by four convolutions.
TEST(HoistConversions, OneConversionBeforeTheBranch) {
  Builder b;
  const auto all = b.node("concat", {b.input("A"), b.input("B"), b.input("C")}, nchw);
  for (int i = 0; i < 4; ++i) b.node(str("conv", i), {all}, nhwc);
  const auto resolved = resolve_layouts(b.graph);
  EXPECT_EQ(resolved.conversions.size(), 4u);
  const auto hoisted = hoist_conversions(b.graph, resolved, Hoisting::AllConsumers);
  ASSERT_EQ(hoisted.conversions.size(), 1u);
  EXPECT_EQ(hoisted.conversions[0].consumers, (std::vector<std::size_t>{1, 2, 3, 4}));
}

/// The paper hoists nothing where one of the branches does not convert; common conversions are one all the same.
TEST(HoistConversions, ThreeOfFour) {
  Builder b;
  const auto x = b.input("X");
  for (int i = 0; i < 4; ++i) b.node(str("conv", i), {x}, i == 0 ? nchw : nhwc);
  const auto resolved = resolve_layouts(b.graph);
  EXPECT_EQ(hoist_conversions(b.graph, resolved, Hoisting::AllConsumers).conversions.size(), 3u);
  EXPECT_EQ(hoist_conversions(b.graph, resolved, Hoisting::Common).conversions.size(), 1u);
}

TEST(ChooseLayouts, AResidualBlockNeedsNoConversion) {
  const auto with = [](std::vector<Layout> candidates, std::optional<Layout> layout) {
    Builder b;
    const auto x = b.input("X", blocked);
    const auto sum = b.node("add", {b.node("a", {x}, blocked), b.node("b", {x}, blocked)}, layout, candidates);
    const auto relu = b.node("relu", {sum}, layout, candidates);
    b.node("c", {relu}, blocked);
    b.node("d", {relu}, blocked);
    return b.graph;
  };
  EXPECT_EQ(resolve_layouts(with({}, nhwc)).conversions.size(), 4u);
  EXPECT_EQ(choose_layouts(with({nhwc, blocked, nchw}, nhwc), LayoutObjective::Edges).conversions.size(), 0u);
}

/// Two producers of one layout, three consumers of another: what is counted decides.
TEST(ChooseLayouts, SharedConversionsAreCountedOnce) {
  Builder b;
  const auto x = b.input("X", nhwc);
  const auto e = b.node("E", {b.node("a", {x}, nhwc), b.node("b", {x}, nhwc)}, std::nullopt, {nhwc, blocked});
  for (const char* name : {"c", "d", "f"}) b.node(name, {e}, blocked);
  const auto edges = choose_layouts(b.graph, LayoutObjective::Edges);
  EXPECT_EQ(edges.produced[e], blocked);
  EXPECT_EQ(edges.conversions.size(), 2u);
  const auto shared = choose_layouts(b.graph, LayoutObjective::Shared);
  EXPECT_EQ(shared.produced[e], nhwc);
  EXPECT_EQ(shared.conversions.size(), 1u);
}

/// An edge of 64 MB and three of 1 KB: counted, the many win; weighed, the large one.
TEST(ChooseLayouts, WeightsDecide) {
  const auto graph = [](double large, double small) {
    Builder b;
    std::vector<std::size_t> inputs;
    for (int i = 0; i < 3; ++i) inputs.push_back(b.input(str("S", i), nhwc, small));
    inputs.push_back(b.input("L", blocked, large));
    b.node("E", inputs, std::nullopt, {nhwc, blocked});
    return b.graph;
  };
  EXPECT_EQ(choose_layouts(graph(1, 1), LayoutObjective::Shared).produced.back(), nhwc);
  EXPECT_EQ(choose_layouts(graph(64e6, 1e3), LayoutObjective::Shared).produced.back(), blocked);
}

/// A layout of the user's own is one like the others.
TEST(ChooseLayouts, UserLayouts) {
  Builder b;
  const auto x = b.input("X", hwcn);
  const auto e = b.node("E", {b.node("toy", {x}, hwcn)}, std::nullopt, {nchw, hwcn});
  b.between("out", e, hwcn, nchw);
  const auto chosen = choose_layouts(b.graph, LayoutObjective::Shared);
  EXPECT_EQ(chosen.produced[e], hwcn);
  EXPECT_TRUE(chosen.conversions.empty());
}

/// A random graph of up to \p nodes nodes, of which some choose among up to four layouts.
LayoutGraph random_graph(std::mt19937_64& random, std::size_t nodes) {
  const std::vector<Layout> layouts{nchw, nhwc, blocked, hwcn};
  const auto pick = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
  Builder b;
  for (std::size_t i = 0; i < 2; ++i) b.input(str("X", i), layouts[pick(4)], 1 + static_cast<double>(pick(5)));
  for (std::size_t n = 0; n < nodes; ++n) {
    std::vector<std::size_t> inputs;
    for (std::size_t i = 0; i <= pick(3); ++i)
      inputs.push_back(b.graph.tensors.size() - 1 - pick(std::min<std::size_t>(b.graph.tensors.size(), 5)));
    std::vector<Layout> candidates;
    if (pick(2))
      for (const auto& layout : layouts)
        if (pick(3) || candidates.empty()) candidates.push_back(layout);
    const auto required = pick(3) ? std::optional(layouts[pick(4)]) : std::nullopt;
    b.node(str("n", n), inputs, required, candidates, 1 + static_cast<double>(pick(5)));
  }
  return b.graph;
}

/// The least costs over all choices, one by one.
struct LeastCosts {
  double edges = std::numeric_limits<double>::infinity(), shared = edges;
};
void brute_force(LayoutGraph& graph, LeastCosts& least) {
  for (auto& node : graph.nodes) {
    if (node.candidates.empty()) continue;
    const auto candidates = std::exchange(node.candidates, {});
    const auto required = node.required;
    for (const auto& layout : candidates) {
      std::fill(node.required.begin(), node.required.end(), layout);
      brute_force(graph, least);
    }
    node.candidates = candidates;
    node.required = required;
    return;
  }
  const auto resolution = resolve_layouts(graph);
  least.edges = std::min(least.edges, resolution.cost(graph));
  least.shared = std::min(least.shared, hoist_conversions(graph, resolution, Hoisting::Common).cost(graph));
}

TEST(ChooseLayouts, EqualsBruteForce) {
  std::mt19937_64 random(11);
  int chosen = 0;
  for (int trial = 0; trial < 200; ++trial) {
    auto graph = random_graph(random, 3 + random() % 10);
    std::size_t free = 0;
    for (auto& node : graph.nodes)
      if (!node.candidates.empty() && ++free > 6) node.candidates.clear();
    LeastCosts least;
    brute_force(graph, least);
    ASSERT_EQ(choose_layouts(graph, LayoutObjective::Edges).cost(graph), least.edges) << "graph " << trial;
    ASSERT_EQ(choose_layouts(graph, LayoutObjective::Shared).cost(graph), least.shared) << "graph " << trial;
    chosen += free > 1;
  }
  EXPECT_GT(chosen, 100);
}

/// Node by node, without a view of those behind: right, and no better than what is chosen for all.
TEST(ResolveGreedily, NeverCostsLessThanTheChoiceForAll) {
  std::mt19937_64 random(12);
  int more = 0;
  for (int trial = 0; trial < 100; ++trial) {
    const auto graph = random_graph(random, 3 + random() % 10);
    const auto greedy = resolve_greedily(graph);
    const double best = choose_layouts(graph, LayoutObjective::Shared).cost(graph);
    ASSERT_GE(greedy.cost(graph), best) << "graph " << trial;
    more += greedy.cost(graph) > best;
    for (std::size_t n = 0; n < graph.nodes.size(); ++n)
      for (std::size_t i = 0; i < graph.nodes[n].inputs.size(); ++i) {
        const auto tensor = graph.nodes[n].inputs[i];
        const auto& needed = greedy.required[n][i];
        const bool converted =
            std::any_of(greedy.conversions.begin(), greedy.conversions.end(),
                        [&](const LayoutConversion& made) { return made.tensor == tensor && made.to == needed; });
        EXPECT_NE(greedy.produced[tensor] == needed, converted) << "graph " << trial;
      }
  }
  EXPECT_GT(more, 10);
}

TEST(ResolveGreedily, DoesNotLookAhead) {
  std::mt19937_64 random(13);
  for (int trial = 0; trial < 20; ++trial) {
    const auto whole = random_graph(random, 10);
    auto first = whole;
    first.nodes.resize(5);
    first.tensors.resize(whole.nodes[4].outputs.front() + 1);
    const auto all = resolve_greedily(whole).choices, some = resolve_greedily(first).choices;
    EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin()));
  }
}

/// The node of SharedConversionsAreCountedOnce, whose best layout depends on what follows: it takes its inputs as they are.
TEST(ResolveGreedily, TakesWhatIsThere) {
  Builder b;
  const auto x = b.input("X", nhwc), z = b.input("Z", nhwc);
  const auto e = b.node("E", {x}, std::nullopt, {blocked, nhwc});
  b.node("c", {e}, blocked);
  b.node("d", {z, e}, blocked);
  const auto greedy = resolve_greedily(b.graph);
  EXPECT_EQ(greedy.produced[e], nhwc);
  EXPECT_EQ(greedy.conversions.size(), 2u) << "E to blocks, once, and Z";
}

/// A network of 500 nodes in residual blocks, all of whose element-wise nodes choose.
TEST(ChooseLayouts, ManyNodes) {
  Builder b;
  const std::vector<Layout> candidates{nhwc, blocked, nchw};
  auto x = b.input("X", nchw);
  while (b.graph.nodes.size() < 500) {
    const auto relu = b.node("relu", {b.node("conv", {x}, blocked)}, std::nullopt, candidates);
    x = b.node("add", {b.node("conv", {relu}, blocked), x}, std::nullopt, candidates);
    x = b.node("relu", {x}, std::nullopt, candidates);
  }
  const auto best = choose_layouts(b.graph, LayoutObjective::Shared);
  EXPECT_EQ(best.conversions.size(), 1u);
}

TEST(Minimise, RefusesWhatIsTooEntangled) {
  ChoiceProblem problem{std::vector<std::size_t>(8, 4), {}};
  for (std::size_t a = 0; a < 8; ++a)
    for (std::size_t b = 0; b < a; ++b) problem.tables.push_back({{b, a}, std::vector<double>(16, 1)});
  EXPECT_EQ(minimise(problem).cost, 28);
  EXPECT_ERROR(minimise(problem, 1000), ResourceError, "too many cases");
}

/// Random sums over triples of 14 variables. Values are small integers, so that costs are equal exactly; some choices are not allowed.
ChoiceProblem entangled(std::mt19937_64& random) {
  ChoiceProblem problem{std::vector<std::size_t>(14), {}};
  for (auto& count : problem.values) count = 1 + random() % 3;
  for (int t = 0; t < 25; ++t) {
    CostTable table;
    std::size_t entries = 1;
    for (int i = 0; i < 3; ++i) {
      const std::size_t variable = random() % problem.values.size();
      if (std::find(table.variables.begin(), table.variables.end(), variable) != table.variables.end()) continue;
      table.variables.push_back(variable);
      entries *= problem.values[variable];
    }
    for (std::size_t e = 0; e < entries; ++e)
      table.cost.push_back(e > 0 && random() % 16 == 0 ? std::numeric_limits<double>::infinity() : random() % 10);
    problem.tables.push_back(std::move(table));
  }
  return problem;
}

double cost_of(const ChoiceProblem& problem, const std::vector<std::size_t>& values) {
  double sum = 0;
  for (const auto& table : problem.tables) {
    std::size_t at = 0;
    for (const auto variable : table.variables) at = at * problem.values[variable] + values[variable];
    sum += table.cost[at];
  }
  return sum;
}

/// With bounds of tables of any size, a search that ends finds what elimination finds.
TEST(BranchAndBound, IsExactWhereItEnds) {
  std::mt19937_64 random(17);
  for (int trial = 0; trial < 200; ++trial) {
    const auto problem = entangled(random);
    const auto exact = minimise(problem);
    if (exact.cost == std::numeric_limits<double>::infinity()) continue;
    for (const std::size_t entries : {1, 9, 100}) {
      const auto found = minimise_within(problem, {.most_entries = 2, .bound_entries = entries});
      EXPECT_EQ(found.cost, exact.cost) << "problem " << trial << ", bounds of " << entries;
      EXPECT_EQ(found.bound, exact.cost);
      EXPECT_EQ(cost_of(problem, found.values), exact.cost);
    }
  }
}

/// A search that is stopped says how far from the least cost it may be, and tables of more entries give closer bounds.
TEST(BranchAndBound, BoundsTheLeastCostWhereItIsStopped) {
  std::mt19937_64 random(18);
  double loose = 0, close = 0, stopped = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const auto problem = entangled(random);
    const auto exact = minimise(problem);
    if (exact.cost == std::numeric_limits<double>::infinity()) continue;
    for (const std::size_t entries : {1, 27}) {
      const auto found = minimise_within(problem, {.most_entries = 2, .bound_entries = entries, .most_steps = 40});
      EXPECT_GE(found.cost, exact.cost) << trial;
      EXPECT_LE(found.bound, exact.cost) << trial;
      EXPECT_EQ(cost_of(problem, found.values), found.cost) << trial;
      (entries == 1 ? loose : close) += exact.cost - found.bound;
      stopped += found.bound < found.cost;
    }
  }
  EXPECT_GT(stopped, 100);
  EXPECT_LT(close, 0.7 * loose);
}

TEST(ChooseLayouts, TooEntangledGraphsAreBounded) {
  std::mt19937_64 random(19);
  int bounded = 0;
  for (int trial = 0; trial < 50; ++trial) {
    const auto graph = random_graph(random, 12);
    const double least = choose_layouts(graph, LayoutObjective::Shared).cost(graph);
    const auto found =
        choose_layouts(graph, LayoutObjective::Shared, {.most_entries = 4, .bound_entries = 1, .most_steps = 30});
    EXPECT_GE(found.cost(graph), least) << trial;
    if (!found.bound) continue;
    EXPECT_LE(*found.bound, least) << trial;
    ++bounded;
  }
  EXPECT_GT(bounded, 5);
}

/// Two convolutions, each with a cheapest layout of its own: forwards the first decides, backwards the second, and neither converts between
/// them; the exact choice pays for a conversion.
TEST(ResolveForward, TheFirstNodeDecidesAndBackwardsTheLastOne) {
  Builder b;
  const auto x = b.input("X", nchw, 0);
  const auto y = b.node("first", {x}, std::nullopt), z = b.node("second", {y}, std::nullopt);
  b.graph.tensors[z].weight = 1;
  b.graph.nodes[0].alternatives = {{{nchw, nhwc}, 1}, {{nchw, blocked}, 3}};
  b.graph.nodes[1].alternatives = {{{nhwc, nchw}, 4}, {{blocked, nchw}, 1}};
  const auto forward = resolve_forward(b.graph), backward = resolve_backward(b.graph);
  const auto best = choose_layouts(b.graph, LayoutObjective::Shared);
  EXPECT_EQ(forward.produced[y], nhwc);
  EXPECT_EQ(forward.cost(b.graph), 5);
  EXPECT_TRUE(forward.conversions.empty());
  EXPECT_EQ(backward.produced[y], blocked);
  EXPECT_EQ(backward.cost(b.graph), 4);
  EXPECT_TRUE(backward.conversions.empty());
  EXPECT_EQ(best.cost(b.graph), 3);
  EXPECT_EQ(best.conversions.size(), 1u);
}

}  // namespace
}  // namespace tc::graph::resolve_layouts_test
