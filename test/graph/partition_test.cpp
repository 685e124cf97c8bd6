#include "tc/graph/partition.h"

#include <gtest/gtest.h>

#include "tc/base/str.h"
#include "test/graph/graph_fixture.h"

namespace tc::graph::partition_test {
namespace {

const std::string ops =
    "def conv(float(N,C,H,W) X, float(K,C,R,S) F) -> (Y) {\n"
    "  Y(n,k,h,w) +=! X(n,c,h+r-1,w+s-1) * F(k,c,r,s) where h in 0:H, w in 0:W }\n"
    "def bias(float(N,K,H,W) X, float(K) b) -> (Y) { Y(n,k,h,w) = X(n,k,h,w) + b(k) }\n"
    "def act(float(N,K,H,W) X) -> (Y) { Y(n,k,h,w) = fmax(X(n,k,h,w), 0) }\n"
    "def add(float(N,K,H,W) X, float(N,K,H,W) Z) -> (Y) { Y(n,k,h,w) = X(n,k,h,w) + Z(n,k,h,w) }\n"
    "def softmax(float(N,K) X) -> (Y) { M(n) max=! X(n,k)  E(n,k) = exp(X(n,k) - M(n))  S(n) +=! E(n,k)\n"
    "  Y(n,k) = E(n,k) / S(n) }\n"
    "def eighth(float(N,K) X) -> (Y) { Y(n,k) = X(n,k) * 0.125 }\n"
    "def fc(float(N,C) X, float(K,C) W) -> (Y) { Y(n,k) +=! X(n,c) * W(k,c) }\n";

/// The nodes of each part, as their calls are named.
std::string parts_of(const Graph& graph, Partition kind = Partition::Auto) {
  std::vector<std::string> texts;
  for (const auto& part : partition(graph, kind)) {
    std::vector<std::string> names;
    for (auto node : part.nodes) names.push_back(graph.nodes[node].callee);
    texts.push_back(join(names, " "));
  }
  return join(texts, "; ");
}

TEST(PartitionGraph, AResNetBlock) {
  auto graph =
      bound(ops +
                "def main(float(N,C,H,W) X, float(C,C,R,S) F, float(C) b, float(C,C,R,S) G, float(C) c) -> (Y) {"
                "  A = conv(X, F)  B = bias(A, b)  D = act(B)  E = conv(D, G)  G0 = bias(E, c)  I = add(G0, X)"
                "  Y = act(I) }",
            {{1, 8, 6, 6}, {8, 8, 3, 3}, {8}, {8, 8, 3, 3}, {8}});
  EXPECT_EQ(parts_of(graph), "conv bias act; conv bias add act");
  EXPECT_EQ(parts_of(graph, Partition::Each), "conv; bias; act; conv; bias; add; act");
  EXPECT_EQ(parts_of(graph, Partition::One), "conv bias act conv bias add act");
  const auto text = to_text(graph, partition(graph));
  EXPECT_EQ(last_def(text),
            "def main(float32(1, 8, 6, 6) X, float32(8, 8, 3, 3) F, float32(8) b, float32(8, 8, 3, 3) G, float32(8) c) "
            "-> (float32 Y) {\n"
            "  D = main_part_0(X, F, b)\n"
            "  Y = main_part_1(D, G, c, X)\n"
            "}\n");
}

TEST(PartitionGraph, RowsAreOnePartAndProductsKeepTheirs) {
  auto graph = bound(ops +
                         "def main(float(N,C) Q, float(K,C) K_, float(D,K) V) -> (Y) {"
                         "  A = fc(Q, K_)  B = eighth(A)  P = softmax(B)  Y = fc(P, V) }",
                     {{16, 8}, {16, 8}, {8, 16}});
  EXPECT_EQ(parts_of(graph), "fc eighth; softmax; fc");
}

TEST(PartitionGraph, LoopsStayAlone) {
  auto graph =
      bound(ops +
                "def decayed(float(T,N) X) -> (H) { for t in 0:T { H(t,n) = X(t,n) + (t >= 1 ? H(t-1,n) : 0) } }\n"
                "def main(float(N,C) Q) -> (Y) { A = eighth(Q)  B = decayed(A)  D = eighth(B)  Y = eighth(D) }",
            {{16, 8}});
  EXPECT_EQ(parts_of(graph), "eighth; decayed; eighth eighth");
}

/// What reads rows joins what writes them where prices say so, and they are asked for once for equal parts.
TEST(PartitionGraph, PricesDecideWhetherRowsJoin) {
  const auto graph = bound(ops +
                               "def main(float(N,C) Q, float(C,C) V) -> (Y) {"
                               "  A = fc(Q, V)  B = softmax(A)  D = fc(B, V)  Y = softmax(D) }",
                           {{16, 8}, {8, 8}});
  for (const double together : {0.5, 2.0, 2.5}) {
    PartitionLimits limits;
    std::vector<std::size_t> asked;
    limits.seconds = [&](const Part& part) {
      asked.push_back(part.nodes.size());
      return part.nodes.size() > 1 ? together : 1.0;
    };
    EXPECT_EQ(partition(graph, Partition::Auto, limits).size(), together <= 2 ? 2U : 4U) << together;
    EXPECT_EQ(asked, (std::vector<std::size_t>{1, 1, 2}));
  }
  PartitionLimits unknown;
  unknown.seconds = [](const Part&) { return std::nullopt; };
  EXPECT_EQ(partition(graph, Partition::Auto, unknown).size(), 4U);
}

/// A product joins what writes a large tensor that it reads where prices say so, and along a small one never. Parts of more than two nodes
/// take `each` times as long here as they do apart.
TEST(PartitionGraph, ProductsJoinAlongLargeTensors) {
  const auto graph = bound(ops +
                               "def main(float(N,C) Q, float(K,C) K_, float(D,K) V) -> (Y) {"
                               "  A = fc(Q, K_)  B = eighth(A)  P = softmax(B)  Y = fc(P, V) }",
                           {{16, 8}, {16, 8}, {8, 16}});
  const double bytes = 16 * 16 * 4;
  for (const double each : {1.0, 1.04, 1.06}) {
    PartitionLimits limits;
    limits.seconds = [&](const Part& part) {
      const auto count = static_cast<double>(part.nodes.size());
      return count * (part.nodes.size() > 2 ? each : 1);
    };
    limits.large = bytes - 1;
    limits.tie = 1.05;
    EXPECT_EQ(partition(graph, Partition::Auto, limits).size(), each < 1.05 ? 1U : 2U) << each;
    limits.large = bytes;
    EXPECT_EQ(partition(graph, Partition::Auto, limits).size(), each == 1 ? 2U : 3U) << each;
    limits.large = bytes - 1;
    limits.seconds = {};
    EXPECT_EQ(partition(graph, Partition::Auto, limits).size(), 3U) << "nobody knows what it takes";
  }
}

TEST(PartitionGraph, NoPartWaitsForItself) {
  auto graph = bound(ops +
                         "def main(float(N,C) X, float(C,C) W) -> (Y) {"
                         "  A = eighth(X)  B = fc(A, W)  Y(n,k) = A(n,k) + B(n,k) }",
                     {{16, 16}, {16, 16}});
  EXPECT_EQ(partition(graph).size(), 2u);
}

TEST(PartitionGraph, EqualPartsHaveEqualKeys) {
  auto graph = bound(ops +
                         "def main(float(N,C) X, float(C,C) W, float(D,C) V) -> (Y) {"
                         "  A = fc(X, W)  B = eighth(A)  P = fc(B, W)  Q = eighth(P)  R = fc(Q, V)  Y = eighth(R) }",
                     {{4, 16}, {16, 16}, {8, 16}});
  const auto parts = partition(graph);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(key_of(graph, parts[0]), key_of(graph, parts[1]));
  EXPECT_NE(key_of(graph, parts[0]), key_of(graph, parts[2]));
}

TEST(PartitionGraph, PartsHoldAsManyStatementsAsTheyMay) {
  std::string text = ops + "def main(float(N,K) X) -> (Y) {\n  A0 = eighth(X)\n";
  for (int k = 1; k < 30; ++k) text += str("  A", k, " = eighth(A", k - 1, ")\n");
  auto graph = bound(text + "  Y = eighth(A29) }", {{4, 4}});
  for (const auto& part : partition(graph)) EXPECT_LE(part.nodes.size(), 12u);
  EXPECT_EQ(partition(graph).size(), 3u);
}

}  // namespace
}  // namespace tc::graph::partition_test
