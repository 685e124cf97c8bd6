#include "tc/polyhedral/core/isl.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "test/support/expect_error.h"
#include "test/support/isl_fixture.h"

namespace tc::polyhedral {
namespace {

using Isl = IslTest;

TEST_F(Isl, IsTheVersionOfItsHeaders) { EXPECT_NE(std::string(isl_version()).find("isl-0.25"), std::string::npos); }

TEST_F(Isl, OfOurBuildUsesMachineIntegersAndIsHidden) {
#ifdef TC_ISL_BUNDLED
  EXPECT_STREQ(isl_version(), "isl-0.25-IMath-32\n");
  EXPECT_NE(dlsym(RTLD_DEFAULT, "isl_version"), reinterpret_cast<void*>(&isl_version));
#else
  GTEST_SKIP() << "the distribution's isl is linked";
#endif
}

TEST_F(Isl, CallGivesTheMessageOfIslAndPrintsNothing) {
  auto root = schedule(R"(domain: "{ S[i] : 0 <= i < 4 }")").root();
  testing::internal::CaptureStderr();
  try {
    erase(root);
    FAIL();
  } catch (const isl::exception& e) {
    EXPECT_NE(std::string(e.what()).find("cannot delete root node"), std::string::npos) << e.what();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(Isl, MarksHaveNamesAndCanBeErased) {
  auto before = schedule(R"({ domain: "{ S[i] : 0 <= i < 4 }", child: { schedule: "[{ S[i] -> [(i)] }]" } })");
  auto mark = before.root().child(0).insert_mark("parallel");
  EXPECT_EQ(mark_name(mark), "parallel");
  EXPECT_FALSE(plain_equal(mark.root().schedule(), before));
  EXPECT_SCHEDULE(erase(mark).root().schedule(), before);
}

TEST_F(Isl, BlockYamlParsesBack) {
  auto tree = schedule(
      R"({ domain: "{ S[i] : 0 <= i < 4 }", child: { schedule: "[{ S[i] -> [(i)] }]", permutable: 1, coincident: [ 1 ] } })");
  EXPECT_EQ(print_block(tree),
            "domain: \"{ S[i] : 0 <= i <= 3 }\"\nchild:\n  schedule: \"[{ S[i] -> [(i)] }]\"\n  permutable: 1\n  "
            "coincident: [ 1 ]\n");
  EXPECT_SCHEDULE(tree, print_block(tree));
}

TEST_F(Isl, NullableCopiesAndAssignsWhatIsAbsent) {
  Nullable<isl::set> none, one = set("{ S[i] }");
  isl::set plain;
  EXPECT_ERROR(isl::set{plain}, isl::exception, "NULL input") << "what Nullable is for";
  Nullable<isl::set> copy = none;
  EXPECT_TRUE(copy.is_null());
  copy = one;
  EXPECT_TRUE(copy.is_equal(one));
  copy = none;
  EXPECT_TRUE(copy.is_null());
}

TEST_F(Isl, NamesOfTuples) {
  EXPECT_EQ(tuple_name(set("{ S[i, j] }")), "S");
  EXPECT_EQ(tuple_name(set("{ [i] }")), "");
  EXPECT_EQ(domain_name(map("{ S[i] -> T[i] }")), "S");
  EXPECT_EQ(range_name(map("{ S[i] -> T[i] }")), "T");
  EXPECT_EQ(range_name(map("{ S[i] -> T[i] }").as_pw_multi_aff()), "T");
  EXPECT_EQ(dimensions(set("{ S[i, j] }")), 2);
  EXPECT_EQ(elements(union_set("{ A[]; B[] }").set_list()).size(), 2u);
}

/// Takes isl a few hundred operations.
void work(isl::ctx ctx) {
  isl::set(ctx, "{ [i, j] : exists k : 0 <= i < 10 and 2k <= i + 3j <= 3k + 7 and 5j <= 11k + i }").lexmin();
}

TEST_F(Isl, QuotaThrowsAndEndsWithItsScope) {
  {
    OperationQuota quota(ctx(), 10);
    EXPECT_ERROR(work(ctx()), isl::exception_quota, "maximal number of operations exceeded");
  }
  EXPECT_NO_THROW(work(ctx()));
  OperationQuota none(ctx(), 0);
  EXPECT_NO_THROW(work(ctx()));
}

/// isl's parser takes what another function could not finish for a syntax error.
TEST_F(Isl, QuotaKnowsItsErrorsWhateverTheirType) {
  const std::string text =
      "{ [a, b] : min(max(min(a, b), 1), 2 * min(floor((a - 1)/2), min(b, 4) - 1) + 1) <= min(a, b) and a, b >= 0 }";
  int other_types = 0;
  for (unsigned long operations = 500; operations < 60000; operations += 500) {
    OperationQuota quota(ctx(), operations);
    try {
      isl::set parsed(ctx(), text);
    } catch (const isl::exception& error) {
      other_types += !dynamic_cast<const isl::exception_quota*>(&error);
      EXPECT_TRUE(quota.caused(error)) << operations << ": " << error.what();
    }
  }
  EXPECT_GT(other_types, 0);
  OperationQuota quota(ctx(), 10000);
  try {
    isl::set(ctx(), "{ [a] : a >= }");
    FAIL() << "isl reads a comparison with nothing";
  } catch (const isl::exception& error) {
    EXPECT_FALSE(quota.caused(error));
  }
}

TEST_F(Isl, QuotaCountsFromItsStart) {
  for (int i = 0; i < 20; ++i) {
    OperationQuota quota(ctx(), 2000);
    EXPECT_NO_THROW(work(ctx())) << i;
  }
}

}  // namespace
}  // namespace tc::polyhedral
