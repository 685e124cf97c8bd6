#include "tc/graph/constant_nodes.h"

#include <gtest/gtest.h>

#include "tc/base/str.h"
#include "tc/graph/partition.h"
#include "test/graph/graph_fixture.h"

namespace tc::graph {
namespace {

const std::string ops =
    "def scale(float(K,C) W, float(K) g) -> (Y) { Y(k,c) = W(k,c) * g(k) }\n"
    "def fc(float(N,C) X, float(K,C) W) -> (Y) { Y(n,k) +=! X(n,c) * W(k,c) }\n"
    "def rows(float(K) g) -> (Y) { Y(n,k) = g(k) where n in 0:64 }\n"
    "def total(float(N,K) X) -> (Y) { Y(k) +=! X(n,k) }\n"
    "def add(float(N,K) X, float(N,K) Z) -> (Y) { Y(n,k) = X(n,k) + Z(n,k) }\n"
    "def bias(float(N,K) X, float(K) b) -> (Y) { Y(n,k) = X(n,k) + b(k) }\n";

/// The calls that \p constants decide, in order.
std::string decided(const Graph& graph, const std::set<std::string>& constants) {
  std::vector<std::string> names;
  for (auto n : constant_nodes(graph, constants)) names.push_back(graph.nodes[n].callee);
  return join(names, " ");
}

TEST(ConstantNodes, AreDecidedByConstantsAlone) {
  auto graph = bound(ops + "def main(float(N,C) X, float(K,C) W, float(K) g) -> (Y) { S = scale(W, g)  Y = fc(X, S) }",
                     {{64, 8}, {4, 8}, {4}});
  EXPECT_EQ(decided(graph, {"W", "g"}), "scale");
  EXPECT_EQ(decided(graph, {"W"}), "");
  EXPECT_EQ(decided(graph, {"X"}), "");
  EXPECT_EQ(decided(graph, {}), "");
}

TEST(ConstantNodes, WhatIsLargerThanWhatItReadsStaysWithItsReaders) {
  const std::string text = ops + "def main(float(N,K) X, float(K) g) -> (Y) { B = rows(g)  Y = add(X, B) }\n";
  EXPECT_EQ(decided(bound(text, {{64, 4}, {4}}), {"g"}), "");
}

TEST(ConstantNodes, WhatNoRunReadsMayBeOfAnySize) {
  const std::string text =
      ops + "def main(float(N,K) X, float(K) g) -> (Y) { B = rows(g)  S = total(B)  Y = bias(X, S) }\n";
  EXPECT_EQ(decided(bound(text, {{64, 4}, {4}}), {"g"}), "rows total");
}

TEST(ConstantNodes, ResultsOfTheGraphAreWrittenByEachRun) {
  const std::string text = ops +
                           "def main(float(N,C) X, float(K,C) W, float(K) g) -> (Y, S) {"
                           "  S = scale(W, g)  Y = fc(X, S) }\n";
  EXPECT_EQ(decided(bound(text, {{64, 8}, {4, 8}, {4}}), {"W", "g"}), "");
}

TEST(ConstantNodes, AreNoPartWithOthers) {
  const std::string text = "def halved(float(N,K) X) -> (Y) { Y(n,k) = X(n,k) * 0.5 }\n" + ops +
                           "def main(float(N,K) X, float(N,K) W) -> (Y) { H = halved(W)  Y = add(X, H) }\n";
  auto graph = bound(text, {{4, 8}, {4, 8}});
  EXPECT_EQ(partition(graph).size(), 1u);
  PartitionLimits limits;
  limits.apart = constant_nodes(graph, {"W"});
  for (auto kind : {Partition::Auto, Partition::Each, Partition::One}) {
    const auto parts = partition(graph, kind, limits);
    ASSERT_EQ(parts.size(), 2u);
    EXPECT_EQ(parts[0].nodes, (std::vector<std::size_t>{0}));
    EXPECT_EQ(parts[1].nodes, (std::vector<std::size_t>{1}));
  }
}

}  // namespace
}  // namespace tc::graph
