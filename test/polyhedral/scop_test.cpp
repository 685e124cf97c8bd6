#include "tc/polyhedral/core/scop.h"

#include <gtest/gtest.h>

#include "tc/base/error.h"
#include "test/support/isl_fixture.h"
#include "test/support/scop_builder.h"

namespace tc::polyhedral {
namespace {

class ScopTest : public IslTest {
 protected:
  Scop row_sums() const {
    return ScopBuilder(context())
        .input("A", {8, 4})
        .output("C", {8})
        .identity("S0[i] : 0 <= i < 8", "C[i]")
        .accumulate("S1[i, k] : 0 <= i < 8 and 0 <= k < 4", "C[i]", {"A[i, k]"})
        .scop();
  }
};

TEST_F(ScopTest, ProgramOrderIsASequenceOfBands) {
  EXPECT_SCHEDULE(program_order(row_sums()), R"(
domain: "{ S0[i] : 0 <= i <= 7; S1[i, k] : 0 <= i <= 7 and 0 <= k <= 3 }"
child:
  sequence:
  - filter: "{ S0[i] }"
    child:
      schedule: "[{ S0[i] -> [(i)] }]"
  - filter: "{ S1[i, k] }"
    child:
      schedule: "[{ S1[i, k] -> [(i)] }, { S1[i, k] -> [(k)] }]"
)");
}

TEST_F(ScopTest, ProgramOrderOfOneStatementIsABand) {
  auto scop = ScopBuilder(context()).output("C", {8}).statement("S[i] : 0 <= i < 8", "C[i]").scop();
  EXPECT_SCHEDULE(scop.schedule, R"(
domain: "{ S[i] : 0 <= i <= 7 }"
child:
  schedule: "[{ S[i] -> [(i)] }]"
)");
}

TEST_F(ScopTest, ProgramOrderOfAScalarHasNoBand) {
  auto scop = ScopBuilder(context()).output("c", {}).statement("S[]", "c[]").scop();
  EXPECT_SCHEDULE(scop.schedule, R"(domain: "{ S[] }")");
}

TEST_F(ScopTest, ProgramOrderOfNothingIsAnEmptyDomain) {
  Scop scop;
  scop.context = context();
  EXPECT_TRUE(program_order(scop).domain().is_empty());
}

TEST_F(ScopTest, AccumulatorsAreReadAndWritten) {
  auto scop = row_sums();
  EXPECT_TRUE(scop.writes().is_equal(
      union_map("{ S0[i] -> C[i] : 0 <= i < 8; S1[i, k] -> C[i] : 0 <= i < 8 and 0 <= k < 4 }")));
  EXPECT_TRUE(scop.reads().is_equal(
      union_map("{ S1[i, k] -> C[i] : 0 <= i < 8 and 0 <= k < 4; S1[i, k] -> A[i, k] : 0 <= i < 8 and 0 <= k < 4 }")));
}

TEST_F(ScopTest, LooksUpByName) {
  auto scop = row_sums();
  EXPECT_TRUE(scop.statement("S1").accumulates);
  EXPECT_EQ(scop.tensor("A").strides, (std::vector<std::int64_t>{4, 1}));
  EXPECT_FALSE(scop.has_tensor("B"));
  try {
    scop.tensor("B");
    FAIL();
  } catch (const InternalError& e) {
    EXPECT_STREQ(e.what(), "no tensor 'B' in the scop");
  }
}

}  // namespace
}  // namespace tc::polyhedral
