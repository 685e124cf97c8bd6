#include "tc/graph/replace_nodes.h"

#include <gtest/gtest.h>

#include "tc/base/error.h"
#include "tc/graph/constant_nodes.h"
#include "tc/graph/new_defs.h"
#include "tc/lang/syntax/parse.h"
#include "test/graph/graph_fixture.h"
#include "test/support/expect_error.h"

namespace tc::graph::replace_nodes_test {
namespace {

const std::string text =
    "def fc(float(N,C) X, float(K,C) W) -> (Y) { Y(n,k) +=! X(n,c) * W(k,c) }\n"
    "def main(float(N,C) X, float(C,C) W) -> (Y) { A = fc(X, W)  Y = fc(A, W) }\n";

lang::Def def_of(const std::string& written) { return lang::parse(written).defs.front(); }

TEST(ReplaceNodes, EachStatementOfTheOtherDefIsANode) {
  const auto graph = bound(text, {{2, 4}, {4, 4}});
  const auto other = def_of(
      "def fc(float(2,4) X, float(4,4) W) -> (float(2,4) Y) {\n"
      "  V(c,k) = W(k,c) where c in 0:4, k in 0:4\n"
      "  Y(n,k) +=! X(n,c) * V(c,k) where n in 0:2, k in 0:4, c in 0:4 }");
  const auto made = replace_nodes(graph, {{0, other}, {1, other}});
  ASSERT_EQ(made.nodes.size(), 4u);
  EXPECT_EQ(constant_nodes(made, {"W"}), (std::set<std::size_t>{0, 2}));
  EXPECT_EQ(last_def(to_text(made)),
            "def main(float32(2, 4) X, float32(4, 4) W) -> (float32 Y) {\n"
            "  fc_V = fc_1(W)\n"
            "  A = fc_2(X, fc_V)\n"
            "  fc_V_1 = fc_1(W)\n"
            "  Y = fc_2(A, fc_V_1)\n"
            "}\n");
}

TEST(ReplaceNodes, ADefWithLoopsStaysOneNode) {
  const auto graph = bound(text, {{2, 4}, {4, 4}});
  const auto other = def_of(
      "def fc(float(2,4) X, float(4,4) W) -> (float(2,4) Y) {\n"
      "  for c in 0:4 { S(c,n,k) = (c > 0 ? S(c-1,n,k) : 0.0) + X(n,c) * W(k,c) where n in 0:2, k in 0:4 }\n"
      "  Y(n,k) = S(3,n,k) where n in 0:2, k in 0:4 }");
  const auto made = replace_nodes(graph, {{1, other}});
  ASSERT_EQ(made.nodes.size(), 2u);
  EXPECT_EQ(last_def(to_text(made)),
            "def main(float32(2, 4) X, float32(4, 4) W) -> (float32 Y) {\n"
            "  A = fc(X, W)\n"
            "  Y = fc_1(A, W)\n"
            "}\n");
}

TEST(ReplaceNodes, ADefOfOtherShapesIsRefused) {
  const auto graph = bound(text, {{2, 4}, {4, 4}});
  const auto other =
      def_of("def fc(float(2,4) X, float(4,4) W) -> (float(2,3) Y) { Y(n,k) = X(n,k) where n in 0:2, k in 0:3 }");
  EXPECT_ERROR(replace_nodes(graph, {{0, other}}), InternalError, "'A' has another shape where it is derived");
}

TEST(NewDefs, EqualOnesAreOneAndNamesAreNew) {
  const auto graph = bound(text, {{2, 4}, {4, 4}});
  NewDefs defs(graph.defs, {"g"});
  const auto scale = def_of("def g(float(2) X) -> (float(2) Y) { Y(i) = X(i) * 2 }");
  const auto shift = def_of("def g(float(2) X) -> (float(2) Y) { Y(i) = X(i) + 2 }");
  EXPECT_EQ(defs.add(scale), "g_1");
  EXPECT_EQ(defs.add(shift), "g_2");
  EXPECT_EQ(defs.add(scale), "g_1");
  const auto all = defs.all();
  EXPECT_EQ(all->file->defs.size(), graph.defs->file->defs.size() + 2);
  const auto range = all->file->defs.back().range;
  EXPECT_EQ(all->file->text.substr(static_cast<std::size_t>(range.begin), 7), "def g_2");
}

}  // namespace
}  // namespace tc::graph::replace_nodes_test
