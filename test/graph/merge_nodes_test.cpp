#include "tc/graph/merge_nodes.h"

#include <gtest/gtest.h>

#include "tc/base/error.h"
#include "test/graph/graph_fixture.h"
#include "test/support/expect_error.h"

namespace tc::graph {
namespace {

const std::string text =
    "def fc(float(N,C) X, float(K,C) W) -> (Y) { Y(n,k) +=! X(n,c) * W(k,c) }\n"
    "def top(float(N,C) X) -> (S) { S(n) max=! X(n,c) }\n"
    "def main(float(N,C) X, float(C,C) W, float(C,C) V) -> (B, S) { A = fc(X, W)  S = top(A)  B = fc(A, V) }\n";

TEST(MergeNodes, AGroupIsOneNodeBehindWhatItReads) {
  const auto graph = bound(text, {{2, 4}, {4, 4}, {4, 4}});
  const auto made = merge_nodes(graph, {{0, 2}});
  ASSERT_EQ(made.graph.nodes.size(), 2u);
  EXPECT_EQ(made.merged, std::vector<std::size_t>{0});
  const auto& node = made.graph.nodes[0];
  EXPECT_EQ(node.inputs, graph.inputs);
  ASSERT_EQ(node.outputs.size(), 2u);
  EXPECT_EQ(made.graph.tensors[node.outputs[0]].name, "A");
  EXPECT_EQ(made.graph.tensors[node.outputs[1]].name, "B");
  EXPECT_EQ(node.def->def.returns.size(), 2u);
  EXPECT_EQ(made.graph.nodes[1].callee, "top");
}

TEST(MergeNodes, AGroupStandsBehindWhatItsLastNodeReads) {
  const auto graph = bound(text, {{2, 4}, {4, 4}, {4, 4}});
  const auto made = merge_nodes(graph, {{1, 2}});
  ASSERT_EQ(made.graph.nodes.size(), 2u);
  EXPECT_EQ(made.merged, std::vector<std::size_t>{1});
  EXPECT_EQ(made.graph.nodes[0].callee, "fc");
}

TEST(MergeNodes, AWayOutOfAGroupAndBackIsAFault) {
  const auto graph =
      bound("def main(float(N) X) -> (C) { A(i) = X(i) + 1  B(i) = A(i) * 2  C(i) = A(i) + B(i) }", {{4}});
  ASSERT_EQ(graph.nodes.size(), 3u);
  EXPECT_ERROR(merge_nodes(graph, {{0, 2}}), InternalError, "need what reads them");
}

}  // namespace
}  // namespace tc::graph
