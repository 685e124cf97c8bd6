#include "tc/polyhedral/core/dependences.h"

#include <gtest/gtest.h>

#include "test/support/expect_error.h"
#include "test/support/isl_fixture.h"
#include "test/support/scop_builder.h"
#include "test/support/scops.h"

namespace tc::polyhedral {
namespace {

class DependencesTest : public IslTest {
 protected:
  void expect(const isl::union_map& got, const std::string& want, const char* what) const {
    EXPECT_TRUE(got.is_equal(union_map(want))) << what << " is\n" << got << "\nand not\n" << union_map(want);
  }
};

TEST_F(DependencesTest, OrderAmongAccumulationsIsRelaxedInValidityOnly) {
  auto scop = ScopBuilder(context())
                  .input("A", {8, 4})
                  .output("C", {8})
                  .output("D", {8})
                  .identity("S0[i] : 0 <= i < 8", "C[i]")
                  .accumulate("S1[i, k] : 0 <= i < 8 and 0 <= k < 4", "C[i]", {"A[i, k]"})
                  .statement("S2[i] : 0 <= i < 8", "D[i]", {"C[i]"})
                  .scop();
  auto d = compute_dependences(scop);
  const std::string i = "0 <= i < 8", k = i + " and 0 <= k < 4";
  expect(d.flow, "{ S1[i, k] -> S2[i] : " + k + "; S0[i] -> S2[i] : " + i + " }", "flow");
  expect(d.anti, "{ }", "anti");
  expect(d.output, "{ S0[i] -> S1[i, k] : " + k + "; S1[i, k] -> S1[i, l] : " + i + " and 0 <= k < l < 4 }", "output");
  expect(d.validity, "{ S0[i] -> S1[i, k] : " + k + "; S1[i, k] -> S2[i] : " + k + "; S0[i] -> S2[i] : " + i + " }",
         "validity");
  expect(d.coincidence,
         "{ S0[i] -> S1[i, k] : " + k + "; S1[i, k] -> S2[i] : " + k + "; S0[i] -> S2[i] : " + i +
             "; S1[i, k] -> S1[i, l] : " + i + " and 0 <= k < l < 4 }",
         "coincidence");
}

TEST_F(DependencesTest, AReadOfAnotherAccumulatorIsKept) {
  auto scop = ScopBuilder(context())
                  .output("C", {8})
                  .accumulate("S[i, k] : 0 <= i < 8 and 0 <= k < 2", "C[i]", {"C[i - 1] : i >= 1"})
                  .scop();
  auto d = compute_dependences(scop);
  expect(d.validity, "{ S[i, k] -> S[i + 1, l] : 0 <= i < 7 and 0 <= k, l < 2 }",
         "validity: writes of C[i - 1] before its reads");
}

TEST_F(DependencesTest, AReusedTemporaryHasAntiAndOutputDependences) {
  auto scop = ScopBuilder(context())
                  .input("X", {8})
                  .temporary("t", {8})
                  .output("Y", {8})
                  .output("Z", {8})
                  .statement("S0[i] : 0 <= i < 8", "t[i]", {"X[i]"})
                  .statement("S1[i] : 0 <= i < 8", "Y[i]", {"t[i]"})
                  .statement("S2[i] : 0 <= i < 8", "t[i]", {"X[7 - i]"})
                  .statement("S3[i] : 0 <= i < 8", "Z[i]", {"t[7 - i]"})
                  .scop();
  auto d = compute_dependences(scop);
  expect(d.flow, "{ S0[i] -> S1[i] : 0 <= i < 8; S0[i] -> S3[7 - i] : 0 <= i < 8; S2[i] -> S3[7 - i] : 0 <= i < 8 }",
         "flow");
  expect(d.anti, "{ S1[i] -> S2[i] : 0 <= i < 8 }", "anti");
  expect(d.output, "{ S0[i] -> S2[i] : 0 <= i < 8 }", "output");
}

TEST_F(DependencesTest, GuardsRestrictAndUnknownReadsWiden) {
  auto scop = ScopBuilder(context())
                  .input("X", {8})
                  .temporary("t", {8})
                  .output("Y", {4})
                  .statement("S0[i] : 0 <= i < 8", "t[i]", {"X[i]"})
                  .statement("S1[i] : 0 <= i < 4", "Y[i]", {"t[i - 1] : i >= 1"})
                  .statement("S2[i] : 0 <= i < 2", "Y[i]", {})
                  .read_any("t[x] : 0 <= x < 8")
                  .scop();
  auto d = compute_dependences(scop);
  expect(d.flow, "{ S0[i] -> S1[i + 1] : 0 <= i < 3; S0[i] -> S2[j] : 0 <= i < 8 and 0 <= j < 2 }", "flow");
  expect(d.output, "{ S1[i] -> S2[i] : 0 <= i < 2 }", "output");
}

TEST_F(DependencesTest, AStatementThatReadsItsOwnTensorRunsInOrder) {
  auto scop = ScopBuilder(context()).output("C", {8}).statement("S[i] : 0 <= i < 7", "C[i + 1]", {"C[i]"}).scop();
  auto d = compute_dependences(scop);
  expect(d.validity, "{ S[i] -> S[i + 1] : 0 <= i < 6 }", "validity");
  expect(d.coincidence, "{ S[i] -> S[i + 1] : 0 <= i < 6 }", "coincidence");
}

TEST_F(DependencesTest, FlowOfSoftmaxConnectsEachStatementToTheNextInItsRow) {
  auto d = compute_dependences(scops::softmax(context(), 64, 31));
  auto rows =
      union_map("{ S0[i] -> [i]; S1[i, j] -> [i]; S2[i, j] -> [i]; S3[i] -> [i]; S4[i, j] -> [i]; S5[i, j] -> [i] }");
  expect(d.coincidence.apply_domain(rows).apply_range(rows), "{ [i] -> [i] : 0 <= i < 64 }", "pairs of rows");
}

TEST_F(DependencesTest, StopsAtTheQuota) {
  auto scop = scops::softmax(context());
  OperationQuota quota(ctx(), 100);
  EXPECT_ERROR(compute_dependences(scop), isl::exception_quota, "maximal number of operations exceeded");
}

}  // namespace
}  // namespace tc::polyhedral
