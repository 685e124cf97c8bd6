#include "tc/engine/compile/linear_groups.h"

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

TEST(LinearGroups, AreNoLongerThanASearchTakes) {
  std::string main = "def main(float(C,C) X, float(C,C) A) -> (Z) { ";
  std::string last = "X";
  for (int n = 0; n < 6; ++n)
    main += "P" + std::to_string(n) + " = fc(" + last + ", A) ", last = "P" + std::to_string(n);
  EXPECT_EQ(groups(main + "Z = act(" + last + ") }", {{8, 8}, {8, 8}}), (Groups{{0, 1, 2, 3}, {4, 5}}));
}

/// A chain of calls that is cheaper from the other end: no single one of them is.
TEST(LinearGroups, AreDerivedAsOneProgram) {
  const auto function = define(
                            "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }\n"
                            "def main(float(M,K) A, float(K,L) B, float(L,N) D) -> (z) {\n"
                            "  T = mm(A, B)  y = mm(T, D)  z(m,n) = fmax(y(m,n), 0) }")
                            .functions.back();
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
  EXPECT_EQ(derived.node, "mm + mm");
  EXPECT_TRUE(derive::check_derivation(derived.certificate).equal);
}

}  // namespace
}  // namespace tc::engine
