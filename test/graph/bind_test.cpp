#include <gtest/gtest.h>

#include "tc/base/contains.h"
#include "tc/graph/drop_copies.h"
#include "test/graph/graph_fixture.h"

namespace tc::graph {
namespace {

const char* const nested =
    "def fc(float(N,C) X, float(K,C) W) -> (Y) { Y(n,k) +=! X(n,c) * W(k,c) }\n"
    "def block(float(N,C) X, float(C,C) W) -> (Y) {\n"
    "  B = fc(X, W)  B = fc(B, W)  Y(i,j) = B(i,j) * C + X(i,j) }\n"
    "def main(float(N,C) X, float(C,C) W) -> (Y) { A = block(X, W)  Y = block(A, W) }";

TEST(Bind, WritesOutCallsOfDefsThatHoldCalls) {
  auto graph = bound(nested, {{2, 3}, {3, 3}});
  ASSERT_EQ(graph.nodes.size(), 6u);
  EXPECT_EQ(graph.nodes[0].callee, "fc");
  EXPECT_EQ(graph.nodes[2].callee, "");
  EXPECT_EQ(last_def(to_text(graph)),
            "def main(float32(2, 3) X, float32(3, 3) W) -> (float32 Y) {\n"
            "  B = fc(X, W)\n"
            "  B_1 = fc(B, W)\n"
            "  Y_1(i, j) = B_1(i, j) * int64(3) + X(i, j)\n"
            "  B_2 = fc(Y_1, W)\n"
            "  B_3 = fc(B_2, W)\n"
            "  Y(i, j) = B_3(i, j) * int64(3) + Y_1(i, j)\n"
            "}\n");
}

TEST(Bind, EachTensorHasOneProducerAndItsReaders) {
  auto graph = bound(nested, {{2, 3}, {3, 3}});
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    const auto& tensor = graph.tensors[t];
    EXPECT_EQ(tensor.producer.has_value(), tensor.role != lang::Role::Input) << tensor.name;
    for (auto reader : tensor.consumers) {
      EXPECT_TRUE(contains(graph.nodes[reader].inputs, t)) << tensor.name;
      if (tensor.producer) {
        EXPECT_LT(*tensor.producer, reader) << tensor.name;
      }
    }
  }
}

TEST(Bind, StatementsThatWriteOneTensorAreOneNode) {
  auto graph = bound(
      "def main(float(N) X) -> (Y, Z) { A(i) = X(i) * 2  A(i) += X(i)  Z(i) = A(i) where i in 1:N  "
      "Y(i) = Z(i+1) }",
      {{4}});
  ASSERT_EQ(graph.nodes.size(), 3u);
  EXPECT_EQ(graph.nodes[0].statements.size(), 2u);
  EXPECT_EQ(graph.tensors[graph.outputs[1]].mins, std::vector<std::int64_t>{1});
  EXPECT_EQ(graph.tensors[graph.outputs[0]].spec.shape, std::vector<std::int64_t>{3});
}

TEST(Bind, BoundsHoldSizesInTheirTerms) {
  auto graph = bound(
      "def twice(float(N) X) -> (Y) { Y(i) = X(i) * 2 }\n"
      "def main(float(N) X) -> (Y) { A = twice(X)  Y(i) = A(i) + A(i+N/2) where i in 0:min(N - 2, N/2) }",
      {{8}});
  auto text = last_def(to_text(graph));
  EXPECT_NE(text.find("where i in 0:min(8 - 2, 8 / 2)"), std::string::npos) << text;
}

TEST(Bind, SaysWhichCallDoesNotFit) {
  const std::string text =
      "def add(float(N) X, float(N) Z) -> (Y) { Y(i) = X(i) + Z(i) }\n"
      "def main(float(N) A, float(M) B) -> (Y) { C = add(A, A)  Y = add(C, B) }";
  EXPECT_EQ(bound(text, {{4}, {4}}).nodes.size(), 2u);
  try {
    bound(text, {{4}, {5}});
    FAIL();
  } catch (const ArgumentError& error) {
    EXPECT_NE(std::string(error.what()).find("in the call 'Y = add(C, B)' of 'main'"), std::string::npos)
        << error.what();
  }
}

TEST(Bind, AnotherShapeOfOneDefIsAnotherNode) {
  auto graph = bound(
      "def halved(float(N) X) -> (Y) { Y(i) = X(2*i) where i in 0:N/2 }\n"
      "def main(float(N) X) -> (Y) { A = halved(X)  B = halved(A)  Y = halved(B) }",
      {{32}});
  ASSERT_EQ(graph.nodes.size(), 3u);
  EXPECT_EQ(graph.tensors[graph.outputs[0]].spec.shape, std::vector<std::int64_t>{4});
}

TEST(DropCopies, LetsReadersReadWhatIsCopied) {
  const std::string text =
      "def same(float(N,K) X) -> (Y) { Y(i,j) = X(i,j) }\n"
      "def twice(float(N,K) X) -> (Y) { Y(i,j) = X(i,j) * 2 }\n";
  auto graph = drop_copies(
      bound(text + "def main(float(N,K) X) -> (Y, Z) { A = twice(X)  B = same(A)  C(i,j) = B(i,j)  D = twice(C)"
                   "  E(i,j) = D(j,i)  Y(i,j) = E(i,j) + A(i,j)  Z = same(A) }",
            {{4, 4}}));
  EXPECT_EQ(last_def(to_text(graph)),
            "def main(float32(4, 4) X) -> (float32 Y, float32 Z) {\n"
            "  A = twice(X)\n"
            "  D = twice(A)\n"
            "  E(i, j) = D(j, i)\n"
            "  Y(i, j) = E(i, j) + A(i, j)\n"
            "  Z = same(A)\n"
            "}\n");
  EXPECT_EQ(drop_copies(bound(text + "def main(float(N,K) X) -> (Y) { A(i,j) = X(i,j) where i in 1:N  Y = twice(A) }",
                              {{4, 4}}))
                .nodes.size(),
            2u);
}

}  // namespace
}  // namespace tc::graph
