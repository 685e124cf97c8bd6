#include "tc/graph/distribute_constants.h"

#include <gtest/gtest.h>

#include "tc/graph/statement/affine_statement.h"
#include "tc/graph/statement/split_affine.h"
#include "tc/lang/syntax/substitute.h"
#include "test/graph/graph_fixture.h"

namespace tc::graph::distribute_constants_test {
namespace {

const std::string ops =
    "def fc(float(N,C) X, float(K,C) W) -> (Y) { Y(n,k) +=! X(n,c) * W(k,c) }\n"
    "def biased(float(N,C) X, float(K,C) W, float(K) b) -> (Y) { Y(n,k) +=! X(n,c) * W(k,c)  Y(n,k) = Y(n,k) + b(k) }\n"
    "def norm(float(N,K) X, float(K) m, float(K) v) -> (Y) {\n"
    "  r(k) = rsqrt(v(k) + 0.5)  Y(n,k) = (X(n,k) - m(k)) * r(k) }\n"
    "def scale(float(N,K) X, float(K) s) -> (Y) { Y(n,k) = s(k) * X(n,k) }\n"
    "def rows(float(N,K) X, float(N) s) -> (Y) { Y(n,k) = X(n,k) * s(n) }\n"
    "def add(float(N,K) X, float(N,K) Z) -> (Y) { Y(n,k) = X(n,k) + Z(n,k) }\n"
    "def relu_of(float(N,K) X) -> (Y) { Y(n,k) = relu(X(n,k)) }\n";

/// Def main of \p text with constants \p constants distributed; "none" where none are.
std::string distributed(const std::string& text, const std::set<std::string>& constants,
                        const std::vector<std::vector<std::int64_t>>& shapes) {
  const auto made = distribute_constants(bound(ops + text, shapes), constants);
  return made ? to_text(made->graph) : "none";
}

/// The same of a main of (X, W, m, v) with `body`.
std::string of_body(const std::string& body, const std::set<std::string>& constants = {"W", "m", "v"}) {
  const auto head = "def main(float(N,C) X, float(K,C) W, float(K) m, float(K) v) -> (Y) { ";
  return distributed(head + body + " }", constants, {{2, 3}, {4, 3}, {4}, {4}});
}

std::string main_of(const std::string& text) { return text == "none" ? text : last_def(text); }

bool says(const std::string& text, const std::string& line) { return text.find(line) != std::string::npos; }

TEST(DistributeConstants, BiasAndNormOfSeveralDefsBecomeScaledWeightsAndOneShift) {
  const auto text = of_body("A = biased(X, W, m)  B = norm(A, m, v)  Y = relu_of(B)");
  EXPECT_EQ(main_of(text),
            "def main(float32(2, 3) X, float32(4, 3) W, float32(4) m, float32(4) v) -> (float32 Y) {\n"
            "  norm_r = norm_1(v)\n"
            "  W_scaled = scaled(W, norm_r)\n"
            "  biased_Y_v1 = biased_1_1(X, W_scaled)\n"
            "  biased_Y_v1_shift = shift(m, norm_r)\n"
            "  B = shifted(biased_Y_v1, biased_Y_v1_shift)\n"
            "  Y = relu_of(B)\n"
            "}\n");
  EXPECT_TRUE(says(text, "Y0(w0, w1) = X0(w0, w1) * X1(w0) where w0 in 0:4, w1 in 0:3\n")) << text;
  EXPECT_TRUE(says(text, "Y0(i1) = (X0(i1) - X0(i1)) * X1(i1) where i1 in 0:4\n")) << text;
}

TEST(DistributeConstants, AScaleAloneLeavesNothingBehindTheSum) {
  EXPECT_EQ(main_of(of_body("A = fc(X, W)  Y = scale(A, m)")),
            "def main(float32(2, 3) X, float32(4, 3) W, float32(4) m, float32(4) v) -> (float32 Y) {\n"
            "  W_scaled = scaled(W, m)\n"
            "  Y = fc_1(X, W_scaled)\n"
            "}\n");
}

TEST(DistributeConstants, StatementsOfOneDefAreNoOtherThanCalls) {
  const auto text = of_body("A(n,k) +=! W(k,c) * X(n,c)  B(n,k) = (0.5 - A(n,k)) / v(k)  Y(n,k) = -B(n,k) + m(k)");
  EXPECT_TRUE(says(text, "Y0(w0, w1) = -(-X0(w0, w1) / X1(w0))")) << text;
  EXPECT_TRUE(says(text, "Y0(i1) = -(0.5 / X1(i1)) + X0(i1)")) << text;
}

TEST(DistributeConstants, AScaleMayStandInsideOfAValue) {
  const auto relu = of_body("A = fc(X, W)  Y(n,k) = relu(A(n,k) * m(k) + v(k))");
  EXPECT_TRUE(says(relu, "Y0(w0, w1) = X0(w0, w1) * X1(w0)")) << relu;
  EXPECT_TRUE(says(main_of(relu), "shifted(")) << relu;
  const auto local = of_body("A = fc(X, W)  r(k) = rsqrt(v(k))  Y(n,k) = exp((A(n,k) - m(k)) * r(k)) + 1");
  EXPECT_TRUE(says(local, "Y0(w0, w1) = X0(w0, w1) * X1(w0)")) << local;
  const auto twice = of_body("A = fc(X, W)  Y(n,k) = A(n,k) * m(k) / (1 + exp(-(A(n,k) * m(k))))");
  EXPECT_TRUE(says(twice, "Y0(w0, w1) = X0(w0, w1) * X1(w0)")) << twice;
  EXPECT_EQ(of_body("A = fc(X, W)  Y(n,k) = A(n,k) * exp(A(n,k) * m(k))"), "none")
      << "it is read without the scale, too";
  EXPECT_EQ(of_body("A = fc(X, W)  Y(n,k) = relu(A(n,k) + m(k))"), "none") << "a shift";
  EXPECT_EQ(of_body("A = fc(X, W)  Y(n,k) = k > 0 ? A(n,k-1) * m(k) : 0 where k in 0:4"), "none")
      << "a condition keeps it from being read";
}

TEST(DistributeConstants, OneDefMayHoldTheSumItsNormAndMore) {
  const auto text = distributed(
      "def all(float(N,C) X, float(K,C) W, float(K) s, float(K) t) -> (Y) {\n"
      "  Y(n,k) +=! X(n,c) * W(k,c)  Y(n,k) = relu(Y(n,k) * s(k) + t(k)) }\n"
      "def main(float(N,C) X, float(K,C) W, float(K) s, float(K) t) -> (Y) { Y = all(X, W, s, t) }",
      {"W", "s", "t"}, {{2, 3}, {4, 3}, {4}, {4}});
  EXPECT_TRUE(says(text, "Y0(w0, w1) = X0(w0, w1) * X1(w0)")) << text;
}

/// The first access in \p expr.
lang::ExprPtr first_access(const lang::ExprPtr& expr) {
  lang::ExprPtr found;
  lang::for_each_expr(expr, [&](const lang::ExprPtr& part) {
    if (!found && std::holds_alternative<lang::Access>(part->node)) found = part;
  });
  return found;
}

TEST(SplitAffine, GivesThePartAndWhatReadsIt) {
  const auto graph = bound(
      "def f(float(N) A, float(N) s, float(N) t) -> (Y) { Y(i) = fmax(A(i) * s(i) + t(i), 0) + t(i) where i in 0:N }\n"
      "def main(float(N) A, float(N) s, float(N) t) -> (Y) { Y = f(A, s, t) }",
      {{4}, {4}, {4}});
  const auto& statement = std::get<lang::Assignment>(graph.nodes[0].def->def.statements[0].node);
  const auto two = split_affine(statement, {"s", "t"}, "T");
  ASSERT_TRUE(two);
  EXPECT_EQ(two->first.target, "T");
  EXPECT_EQ(tensors_in(two->first.rhs), (std::vector<std::string>{"A", "s", "t"}));
  EXPECT_EQ(two->second.target, "Y");
  EXPECT_EQ(tensors_in(two->second.rhs), (std::vector<std::string>{"T", "t"}));
  EXPECT_EQ(tensors_in(split_affine(statement, {"s"}, "T")->first.rhs), (std::vector<std::string>{"A", "s"}));
  EXPECT_FALSE(split_affine(two->first, {"s", "t"}, "U")) << "all of it is affine";
  auto both = statement;
  both.rhs = lang::make_expr(lang::Binary{lang::BinaryOp::Mul, statement.rhs, first_access(two->first.rhs)});
  EXPECT_FALSE(split_affine(both, {"s", "t"}, "T")) << "A is read without the scale, too";
}

TEST(DistributeConstants, ReshapesStandBetweenTheSumAndItsScale) {
  const auto text = distributed(
      "def main(float(2,12) X, float(8,3) W, float(8) s) -> (Y) {\n"
      "  A(n,g,f) +=! X(n,g*3+c) * W(g*2+f,c) where n in 0:2, g in 0:4, f in 0:2, c in 0:3\n"
      "  B(n,k) = A(n,k/2,k%2) where n in 0:2, k in 0:8\n"
      "  Y(n,k) = B(n,k) * s(k) + s(k) }",
      {"W", "s"}, {{2, 12}, {8, 3}, {8}});
  EXPECT_TRUE(says(text, "Y0(w0, w1) = X0(w0, w1) * X1(w0) where w0 in 0:8, w1 in 0:3\n")) << text;
  EXPECT_TRUE(says(text, "Y0(u0, u1) = X0(u0, u1 / 2, u1 % 2) + X1(u1 / 2, u1 % 2)")) << text;
}

TEST(DistributeConstants, PlacesMayBeOneDimensionInTheSum) {
  const auto places = [](const std::string& scale) {
    return distributed(
        "def main(float(2,3,12) X, float(8,3) W, float(8) s, float(4) t) -> (Y) {\n"
        "  A(n,k,p) +=! X(n,c,p) * W(k,c)\n"
        "  B(n,k,h,w) = A(n,k,h*4+w) where n in 0:2, k in 0:8, h in 0:3, w in 0:4\n"
        "  Y(n,k,h,w) = B(n,k,h,w) * " +
            scale + " + s(k) }",
        {"W", "s", "t"}, {{2, 3, 12}, {8, 3}, {8}, {4}});
  };
  const auto text = places("s(k)");
  EXPECT_TRUE(says(text, "Y0(u0, u1, u2, u3) = X0(u0, u1, u2 * 4 + u3) + X1(u1)")) << text;
  EXPECT_EQ(places("t(w)"), "none");
}

TEST(DistributeConstants, WhatIsNotDecidedByTheWeightsSubscriptsStays) {
  EXPECT_EQ(distributed("def main(float(N,C) X, float(K,C) W, float(N) s) -> (Y) { A = fc(X, W)  Y = rows(A, s) }",
                        {"W", "s"}, {{2, 3}, {4, 3}, {2}}),
            "none");
}

TEST(DistributeConstants, WhatARunDecidesStays) {
  EXPECT_EQ(of_body("A = fc(X, W)  Y = scale(A, m)", {"W"}), "none");
  EXPECT_EQ(of_body("A = fc(X, W)  Y = scale(A, m)", {"m"}), "none");
  EXPECT_EQ(of_body("A = fc(X, W)  B = relu_of(A)  Y = scale(B, m)"), "none");
}

TEST(DistributeConstants, ASumThatOthersReadStays) {
  EXPECT_EQ(of_body("A = fc(X, W)  B = scale(A, m)  Y = add(A, B)"), "none");
  EXPECT_EQ(distributed("def main(float(N,C) X, float(K,C) W, float(K) m) -> (A, Y) { A = fc(X, W)  Y = scale(A, m) }",
                        {"W", "m"}, {{2, 3}, {4, 3}, {4}}),
            "none");
}

TEST(DistributeConstants, OtherOperatorsAndTypesStay) {
  EXPECT_EQ(of_body("A(n,k) max=! X(n,c) * W(k,c)  Y = scale(A, m)"), "none");
  EXPECT_EQ(of_body("A(n,k) +=! X(n,c) + W(k,c)  Y = scale(A, m)"), "none");
  EXPECT_EQ(of_body("A(n,k) +=! X(n,c) * W(k,c)  B(n,k) = float64(A(n,k)) * m(k)  Y(n,k) = float32(B(n,k))"), "none");
  EXPECT_EQ(distributed("def main(int32(N,C) X, int32(K,C) W, int32(K) m) -> (Y) {\n"
                        "  A(n,k) +=! X(n,c) * W(k,c)  Y(n,k) = A(n,k) * m(k) }",
                        {"W", "m"}, {{2, 3}, {4, 3}, {4}}),
            "none");
}

TEST(DistributeConstants, AScaleOfFewerElementsThanTheWeightsHaveStays) {
  EXPECT_EQ(distributed("def main(float(N,C) X, float(K,C) W, float(2) s) -> (Y) {\n"
                        "  A(n,k) +=! X(n,c) * W(k,c) where k in 0:2  Y(n,k) = A(n,k) * s(k) where k in 0:2 }",
                        {"W", "s"}, {{2, 3}, {4, 3}, {2}}),
            "none");
}

TEST(DistributeConstants, APartOfASumStays) {
  EXPECT_EQ(of_body("A = fc(X, W)  Y(n,k) = A(n,k) * m(k) where k in 0:3"), "none");
}

}  // namespace
}  // namespace tc::graph::distribute_constants_test
