#include "tc/polyhedral/laws/verify_ast.h"

#include <gtest/gtest.h>

#include "tc/polyhedral/generate/ast_functions.h"
#include "test/support/isl_fixture.h"
#include "test/support/rejects.h"
#include "test/support/schedule_builder.h"
#include "test/support/scop_builder.h"
#include "test/support/scops.h"

namespace tc::polyhedral {
namespace {

using namespace build;

/// Faults planted in ASTs, each found by the law that it breaks.
class VerifyAstTest : public IslTest {
 protected:
  /// C[i, j] = A[j, i] in tiles of 3, which do not divide 8.
  ScopBuilder transpose(const std::string& bounds = "0 <= i < 8 and 0 <= j < 8") const {
    return ScopBuilder(context())
        .input("A", {8, 8})
        .output("C", {8, 8})
        .statement("S[i, j] : " + bounds, "C[i, j]", {"A[j, i] : i > 0"});
  }
  static Scop tiled(Scop scop) {
    scop.schedule = domain(scop.domain(), band("[{ S[i, j] -> [(floor((i)/3))] }, { S[i, j] -> [(j)] }]",
                                               band("[{ S[i, j] -> [((i) mod 3)] }]")));
    return scop;
  }
  /// The expression \p text of iterators, for example "A[c0, 2 c1]".
  isl::ast_expr access(const std::string& iterators, const std::string& text) const {
    isl::pw_multi_aff function(ctx(), "[" + iterators + "] -> { " + text + " }");
    return isl::ast_build::from_context(isl::set(ctx(), "[" + iterators + "] -> { : }")).access_from(function);
  }
  static testing::AssertionResult finds(const Ast& ast, const Scop& scop, const std::string& what) {
    return rejects([&] { verify_ast(ast, scop); }, what);
  }
};

TEST_F(VerifyAstTest, AcceptsWhatIsGenerated) {
  auto scop = tiled(transpose().scop());
  EXPECT_NO_THROW(verify_ast(generate_ast(scop), scop));
  for (const auto& known : {scops::matmul(context()), scops::matmul_bias_relu(context()), scops::softmax(context())}) {
    auto ast = generate_ast(known);
    EXPECT_NO_THROW(verify_ast(ast, known));
    EXPECT_NO_THROW(verify_ast_order(ast, known, compute_dependences(known)));
  }
}

TEST_F(VerifyAstTest, ASiteOfTheTransposeRunsRowsOfThree) {
  auto ast = generate_ast(tiled(transpose().scop()));
  EXPECT_EQ(print(ast), R"(for (int c0 = 0; c0 <= 2; c0 += 1)
  for (int c1 = 0; c1 <= 7; c1 += 1)
    for (int c2 = 0; c2 <= min(2, -3 * c0 + 7); c2 += 1)
      S(3 * c0 + c2, c1);
S(3 * c0 + c2, c1): C[3 * c0 + c2][c1] <- A[c1][3 * c0 + c2]
)");
}

TEST_F(VerifyAstTest, FindsAWrongDigit) {
  auto scop = tiled(transpose().scop());
  auto ast = generate_ast(scop);
  ast.sites[0].write = access("c0, c1, c2", "C[2 c0 + c2, c1]");
  EXPECT_TRUE(finds(ast, scop,
                    "law 'ast accesses' is broken: the site S(3 * c0 + c2, c1) has a write whose address is "
                    "another than that of the element "));
}

TEST_F(VerifyAstTest, FindsADroppedDimension) {
  auto scop = tiled(transpose().scop());
  auto ast = generate_ast(scop);
  ast.sites[0].reads[0] = access("c0, c1, c2", "A[0, 3 c0 + c2]");
  EXPECT_TRUE(finds(ast, scop, "has a read 0 whose address is another"));
}

TEST_F(VerifyAstTest, FindsAShiftedIndexWhereItsGuardLetsItRun) {
  auto scop = tiled(transpose().scop());
  auto ast = generate_ast(scop);
  ast.sites[0].reads[0] = access("c0, c1, c2", "A[c1, 3 c0 + c2 + 1]");
  EXPECT_TRUE(finds(ast, scop, "has a read 0 whose address is another"));
  ast.sites[0].reads[0] = access("c0, c1, c2", "A[c1, 3 c0 + c2] : 3 c0 + c2 > 0; A[c1, 5] : 3 c0 + c2 <= 0");
  EXPECT_NO_THROW(verify_ast(ast, scop));
}

TEST_F(VerifyAstTest, AnIndexMayCarryIntoTheOneAboveButNotIntoOneElement) {
  auto scop = tiled(transpose().scop());
  auto ast = generate_ast(scop);
  ast.sites[0].write = access("c0, c1, c2", "C[0, 24 c0 + 8 c2 + c1]");
  EXPECT_NO_THROW(verify_ast(ast, scop));
  scop.tensor("A").extent = scop.tensor("C").extent = {8, 1};
  EXPECT_TRUE(finds(ast, scop, "has a write whose address is another"));
}

TEST_F(VerifyAstTest, FindsADroppedGuardAndALoopThatEndsEarly) {
  auto scop = tiled(transpose().scop());
  auto larger = tiled(transpose("0 <= i < 9 and 0 <= j < 8").scop());
  auto smaller = tiled(transpose("0 <= i < 8 and 0 <= j < 8 and i + j < 14").scop());
  EXPECT_TRUE(finds(generate_ast(larger), scop, "runs but is no instance of a statement"));
  EXPECT_TRUE(finds(generate_ast(smaller), scop, "the instance { S[7, 7] } does not run"));
}

TEST_F(VerifyAstTest, FindsIteratorsOfAnotherInstance) {
  auto scop = tiled(transpose().scop());
  auto ast = generate_ast(scop);
  std::swap(ast.sites[0].iterators[0], ast.sites[0].iterators[1]);
  EXPECT_TRUE(finds(ast, scop, "has iterators of another instance"));
}

/// A loop around all that no instance knows of.
TEST_F(VerifyAstTest, FindsAnInstanceThatRunsTwice) {
  auto scop = tiled(transpose().scop());
  auto ast = generate_ast(scop);
  auto numbered = isl::ast_build(ctx()).set_at_each_domain([&](const isl::ast_node& node, const isl::ast_build&) {
    auto id = call(ctx(), isl_id_alloc, ctx().get(), "0", nullptr);
    return call(ctx(), isl_ast_node_set_annotation, node.copy(), id.release());
  });
  isl::union_map time(ctx(), "{ S[i, j] -> [t, i, j] : 0 <= i, j < 8 and 0 <= t < 2 }");
  ast.root = call(ctx(), isl_ast_build_node_from_schedule_map, numbered.get(), time.copy());
  EXPECT_TRUE(finds(ast, scop, "runs an instance more than once"));
}

TEST_F(VerifyAstTest, FindsNodesInAnotherOrder) {
  auto scop = ScopBuilder(context())
                  .temporary("t", {8})
                  .output("C", {8})
                  .statement("S[i] : 0 <= i < 8", "t[i]")
                  .statement("U[i] : 0 <= i < 8", "C[i]", {"t[i]"})
                  .scop();
  auto dependences = compute_dependences(scop);
  EXPECT_NO_THROW(verify_ast_order(generate_ast(scop), scop, dependences));
  auto swapped = scop;
  swapped.schedule =
      domain(scop.domain(), band("[{ S[i] -> [(i)]; U[i] -> [(i)] }]", sequence({{"{ U[i] }"}, {"{ S[i] }"}})));
  auto ast = generate_ast(swapped);
  EXPECT_NO_THROW(verify_ast(ast, scop));
  EXPECT_TRUE(rejects([&] { verify_ast_order(ast, scop, dependences); },
                      "law 'ast order' is broken: the dependence S[0] -> U[0] does not go forward"));
}

TEST_F(VerifyAstTest, ReadsExpressionsBack) {
  auto back = [&](const std::string& function) {
    auto expr = access("c0, c1", "T[" + function + "]");
    return argument_tuple(expr).is_equal(isl::set(ctx(), "[c0, c1] -> { T[" + function + "] }"));
  };
  EXPECT_TRUE(back("floor((c0 + 5c1)/7), ((3c0 - c1) mod 4)"));
  EXPECT_TRUE(back("c0 - 2 * floor((c0)/2), -c1"));
  auto folded = access("c0", "T[-c0] : c0 < 0; T[c0] : c0 >= 0");
  EXPECT_TRUE(argument_tuple(folded).is_equal(isl::set(ctx(), "[c0] -> { T[x] : (x = -c0 or x = c0) and x >= 0 }")));
}

}  // namespace
}  // namespace tc::polyhedral
