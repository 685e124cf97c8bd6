#include "tc/engine/parts/linear_groups.h"

#include <gtest/gtest.h>

#include "tc/derive/derivation_text.h"
#include "tc/graph/bind.h"
#include "test/engine/engine_fixture.h"

/// Nodes of graphs that are derived as one program.
namespace tc::engine {
namespace {

using Groups = std::vector<std::vector<std::size_t>>;

const std::string fc = "def fc(float(N,C) X, float(K,C) W) -> (Y) { Y(n,k) +=! X(n,c) * W(k,c) }\n";
const std::string act = "def act(float(N,C) X) -> (Y) { Y(n,c) = fmax(X(n,c), 0) }\n";

Groups groups(const std::string& main, const std::vector<std::vector<std::int64_t>>& shapes,
              const std::set<std::string>& constants = {}) {
  const auto function = define(fc + act + main).functions.back();
  std::vector<TensorSpec> inputs;
  for (const auto& shape : shapes) inputs.push_back(contiguous(DType::Float32, shape));
  return linear_groups(*graph::bind(function->defs, function->name(), inputs), constants);
}

TEST(LinearGroups, ProductsOfOneTensorStandTogetherUntilAnActivation) {
  EXPECT_EQ(groups("def main(float(N,C) X, float(C,C) A, float(C,C) B, float(C,C) D) -> (Y, Z) {\n"
                   "  Q = fc(X, A)  R = fc(X, B)  S = act(Q)  Y = fc(S, D)  Z = fc(Y, R) }",
                   {{8, 8}, {8, 8}, {8, 8}, {8, 8}}),
            (Groups{{0, 1}, {3, 4}}));
}

TEST(LinearGroups, SumsAndScalesThatNeverChangeDoNotSplit) {
  const std::string main =
      "def add(float(N,C) X, float(N,C) Y) -> (Z) { Z(n,c) = X(n,c) - Y(n,c) }\n"
      "def scale(float(N,C) X, float(C) g) -> (Y) { Y(n,c) = -X(n,c) * g(c) / 2 + 1 }\n"
      "def main(float(N,C) X, float(C,C) A, float(C) g, float(C,C) D) -> (Z) {\n"
      "  P = fc(X, A)  S = scale(P, g)  Y = fc(S, D)  Z = add(Y, X) }";
  const std::vector<std::vector<std::int64_t>> shapes{{8, 8}, {8, 8}, {8}, {8, 8}};
  EXPECT_EQ(groups(main, shapes, {"g"}), (Groups{{0, 1, 2, 3}}));
  EXPECT_EQ(groups(main, shapes), (Groups{{2, 3}})) << "a product of what varies";
}

TEST(LinearGroups, NoWayLeadsOutOfAGroupAndBack) {
  EXPECT_EQ(groups("def main(float(N,C) X, float(C,C) A) -> (Y) { Q = fc(X, A)  S = act(Q)  Y = fc(Q, S) }",
                   {{8, 8}, {8, 8}}),
            Groups{});
}

TEST(LinearGroups, WhatConstantsDecideStandsInNone) {
  const std::string main = "def main(float(N,C) X, float(C,C) A, float(C,C) B) -> (Y) { W = fc(A, B)  Y = fc(X, W) }";
  EXPECT_EQ(groups(main, {{8, 8}, {8, 8}, {8, 8}}), (Groups{{0, 1}}));
  EXPECT_EQ(groups(main, {{8, 8}, {8, 8}, {8, 8}}, {"A", "B"}), Groups{});
}

TEST(LinearGroups, HaveAsManyProductsAsASearchTakes) {
  std::string main =
      "def halve(float(N,C) X) -> (Y) { Y(n,c) = X(n,c) * 0.5 }\n"
      "def main(float(C,C) X, float(C,C) A) -> (Z) { ";
  std::string last = "X";
  for (int n = 0; n < 6; ++n) {
    main += "P" + std::to_string(n) + " = fc(" + last + ", A) ", last = "P" + std::to_string(n);
    if (n == 2) main += "H = halve(P2) ", last = "H";
  }
  EXPECT_EQ(groups(main + "Z = act(" + last + ") }", {{8, 8}, {8, 8}}), (Groups{{0, 1, 2, 3, 4}, {5, 6}}));
}

const std::string mm_def = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }\n";

/// A chain of calls \p text that is cheaper from the other end, where no single one of them is.
void expect_derived_as_one(const std::string& text, const std::string& name) {
  const auto function = define(text).functions.back();
  auto a = count_up({64, 48}), b = count_up({48, 56}), d = count_up({56, 2});
  Floats z({64, 2}), z2({64, 2});
  compile(function, {a, b, d}, {}, checked())->run(std::vector<TensorView>{a, b, d}, std::vector<TensorView>{z});
  auto options = checked();
  options.derive = 3;
  const auto executable = compile(function, {a, b, d}, {}, options);
  executable->run(std::vector<TensorView>{a, b, d}, std::vector<TensorView>{z2});
  EXPECT_EQ(z.values, z2.values);
  ASSERT_EQ(executable->stats().derived.size(), 1u);
  const auto& derived = executable->stats().derived.front();
  EXPECT_EQ(derived.node, name);
  EXPECT_TRUE(derive::check_derivation(derived.certificate).equal);
}

TEST(LinearGroups, AreDerivedAsOneProgram) {
  expect_derived_as_one(mm_def +
                            "def main(float(M,K) A, float(K,L) B, float(L,N) D) -> (z) {\n"
                            "  T = mm(A, B)  y = mm(T, D)  z(m,n) = fmax(y(m,n), 0) }",
                        "mm + mm");
}

TEST(LinearGroups, AreDerivedThroughAScale) {
  expect_derived_as_one(mm_def +
                            "def twice(float(M,N) A) -> (B) { B(m,n) = 2 * A(m,n) }\n"
                            "def main(float(M,K) A, float(K,L) B, float(L,N) D) -> (z) {\n"
                            "  T = mm(A, B)  S = twice(T)  y = mm(S, D)  z(m,n) = fmax(y(m,n), 0) }",
                        "mm + twice + mm");
}

}  // namespace
}  // namespace tc::engine
