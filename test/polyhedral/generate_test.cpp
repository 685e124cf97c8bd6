#include "tc/polyhedral/generate/generate.h"

#include <gtest/gtest.h>

#include "test/support/isl_fixture.h"
#include "test/support/scop_builder.h"

namespace tc::polyhedral {
namespace {

class GenerateTest : public IslTest {};

TEST_F(GenerateTest, ProgramOrder) {
  auto scop = ScopBuilder(context())
                  .input("A", {8, 4})
                  .output("C", {8})
                  .identity("S0[i] : 0 <= i < 8", "C[i]")
                  .accumulate("S1[i, k] : 0 <= i < 8 and 0 <= k < 4", "C[i]", {"A[i, k]"})
                  .scop();
  EXPECT_EQ(print(generate_ast(scop)), R"({
  for (int c0 = 0; c0 <= 7; c0 += 1)
    S0(c0);
  for (int c0 = 0; c0 <= 7; c0 += 1)
    for (int c1 = 0; c1 <= 3; c1 += 1)
      S1(c0, c1);
}
S0(c0): C[c0] <- 
S1(c0, c1): C[c0] <- A[c0][c1]
)");
}

TEST_F(GenerateTest, FloorsCancelInPromotedAccesses) {
  auto scop = ScopBuilder(context())
                  .input("A", {64})
                  .temporary("acc", {8})
                  .statement("S[i] : 0 <= i < 64", "acc[i mod 8]", {"A[i]"})
                  .scop();
  scop.schedule = schedule(R"(
domain: "{ S[i] : 0 <= i < 64 }"
child:
  schedule: "[{ S[i] -> [(floor(i/8))] }, { S[i] -> [(i mod 8)] }]"
)");
  EXPECT_EQ(print(generate_ast(scop)), R"(for (int c0 = 0; c0 <= 7; c0 += 1)
  for (int c1 = 0; c1 <= 7; c1 += 1)
    S(8 * c0 + c1);
S(8 * c0 + c1): acc[c1] <- A[8 * c0 + c1]
)");
}

TEST_F(GenerateTest, DigitsOfANumberThatLieSideBySideAreTheNumber) {
  auto scop = ScopBuilder(context())
                  .input("A", {9, 4, 8})
                  .output("C", {8, 3, 3})
                  .statement("S[g] : 0 <= g < 72", "C[floor(g/9), floor(g/3) mod 3, g mod 3]",
                             {"A[g mod 9, floor(g/2) mod 4, floor(g/9)]"})
                  .scop();
  EXPECT_EQ(print(generate_ast(scop)), R"(for (int c0 = 0; c0 <= 71; c0 += 1)
  S(c0);
S(c0): C[0][0][c0] <- A[c0 % 9][c0 / 2 - 4 * (c0 / 8)][c0 / 9]
)");
}

TEST_F(GenerateTest, AReadThatIsNotExactHasNoAccess) {
  auto scop = ScopBuilder(context())
                  .input("I", {4})
                  .input("T", {9})
                  .output("C", {4})
                  .statement("S[i] : 0 <= i < 4", "C[i]", {"I[i]"})
                  .read_any("T[x] : 0 <= x < 9")
                  .scop();
  auto ast = generate_ast(scop);
  ASSERT_EQ(ast.sites.size(), 1u);
  EXPECT_FALSE(ast.sites[0].reads[0].is_null());
  EXPECT_TRUE(ast.sites[0].reads[1].is_null());
}

/// T ends where U begins, so that its loop could be a loop of its own; but then each would have a buffer of its own, too.
TEST_F(GenerateTest, WhatSharesAnIterationSharesItsBuffers) {
  auto scop = ScopBuilder(context())
                  .input("A", {3})
                  .output("C", {3})
                  .temporary("acc", {1})
                  .statement("T[i] : 0 <= i < 3", "acc[0]", {"A[i]"})
                  .statement("U[i] : i = 2", "C[i]", {"acc[0]"})
                  .scop();
  scop.schedule = schedule(R"(
domain: "{ T[i] : 0 <= i < 3; U[i] : i = 2 }"
child:
  schedule: "[{ T[i] -> [(i)]; U[i] -> [(i)] }]"
  child:
    mark: allocate_acc
    child:
      sequence:
      - filter: "{ T[i] }"
      - filter: "{ U[i] }"
)");
  EXPECT_EQ(print(generate_ast(scop)), R"(for (int c0 = 0; c0 <= 2; c0 += 1) {
  // allocate_acc
  {
    T(c0);
    if (c0 == 2)
      U(2);
  }
}
T(c0): acc[0] <- A[c0]
U(2): C[2] <- acc[0]
)");
}

TEST_F(GenerateTest, DepthsTellWhichLoopAMarkMeans) {
  auto scop = ScopBuilder(context()).output("C", {1, 5}).statement("S[i, j] : i = 0 and 0 <= j < 5", "C[i, j]").scop();
  scop.schedule = schedule(R"(
domain: "{ S[i, j] : i = 0 and 0 <= j < 5 }"
child:
  mark: parallel
  child:
    schedule: "[{ S[i, j] -> [(i)] }]"
    child:
      schedule: "[{ S[i, j] -> [(j)] }]"
)");
  auto ast = generate_ast(scop);
  ASSERT_TRUE(ast.root.isa<isl::ast_node_mark>());
  EXPECT_EQ(annotation(ast.root), 0);
  EXPECT_EQ(ast.root.to_C_str(), "// parallel\nfor (int c1 = 0; c1 <= 4; c1 += 1)\n  S(0, c1);\n");
  auto below = call(ctx(), isl_ast_node_mark_get_node, ast.root.get());
  while (!below.isa<isl::ast_node_for>() || below.as<isl::ast_node_for>().is_degenerate())
    below = below.as<isl::ast_node_for>().body();
  EXPECT_EQ(depth(below.as<isl::ast_node_for>()), 1);
}

}  // namespace
}  // namespace tc::polyhedral
