#include "tc/engine/graph/graph_derivations.h"

#include <gtest/gtest.h>

#include "tc/derive/derivation_text.h"
#include "test/engine/engine_fixture.h"
#include "test/support/expect_error.h"

/// Nodes of graphs computed by derived programs.
namespace tc::engine::graph_derivations_test {
namespace {

/// A chain of two products that is cheaper from the other end.
const char* const chain =
    "def f(float(M,K) A, float(K,L) B, float(L) v) -> (y) { T(m,l) +=! A(m,k) * B(k,l)  y(m) +=! T(m,l) * v(l) }\n"
    "def main(float(M,K) A, float(K,L) B, float(L) v) -> (z) { y = f(A, B, v)  z(m) = fmax(y(m), 0) }\n";

TEST(GraphDerivations, AChainOfProductsIsMultipliedFromTheCheaperEnd) {
  const auto function = define(chain).functions.back();
  auto a = count_up({64, 48}), b = count_up({48, 56}), v = count_up({56});
  Floats z({64}), z2({64});
  compile(function, {a, b, v}, {}, checked())->run(std::vector<TensorView>{a, b, v}, std::vector<TensorView>{z});
  auto options = checked();
  options.derive = 3;
  const auto executable = compile(function, {a, b, v}, {}, options);
  executable->run(std::vector<TensorView>{a, b, v}, std::vector<TensorView>{z2});
  EXPECT_EQ(z.values, z2.values);
  ASSERT_EQ(executable->stats().derived.size(), 1u);
  const auto& node = executable->stats().derived.front();
  EXPECT_EQ(node.node, "f");
  EXPECT_GT(node.before_us, least_derived_gain * node.after_us);
  EXPECT_TRUE(derive::check_derivation(node.certificate).equal);
  EXPECT_FALSE(node.rules.empty());
  EXPECT_NE(executable->stats().graph.find("def main"), std::string::npos);
}

TEST(GraphDerivations, WhatIsNoCheaperStays) {
  const auto function = define(mm).functions.back();
  auto a = count_up({32, 32}), b = count_up({32, 32});
  auto options = checked();
  options.derive = 2;
  Floats c({32, 32});
  const auto executable = compile(function, {a, b}, {}, options);
  executable->run(std::vector<TensorView>{a, b}, std::vector<TensorView>{c});
  EXPECT_EQ(c.values, product(a, b));
  EXPECT_TRUE(executable->stats().derived.empty());
  EXPECT_ERROR(checked_derive(-1), OptionsError, "derive is a number of rules");
}

}  // namespace
}  // namespace tc::engine::graph_derivations_test
