#include "tc/halide_bridge/raise/member_ranges.h"

#include <gtest/gtest.h>

#include "test/support/isl_fixture.h"
#include "test/support/scop_builder.h"

namespace tc::halide_bridge {
namespace {

class MemberRanges : public polyhedral::IslTest {};

TEST_F(MemberRanges, AreThoseOfTheBandsAboveAStatement) {
  auto scop = polyhedral::ScopBuilder(context())
                  .output("C", {8})
                  .identity("I[i] : 0 <= i < 8", "C[i]")
                  .accumulate("U[i, k] : 0 <= i < 8 and 2 <= k <= i", "C[i]", {})
                  .scop();
  scop.schedule = polyhedral::program_order(scop);
  const auto ranges = member_ranges(scop);
  ASSERT_EQ(ranges.at("I").size(), 1U);
  EXPECT_EQ(ranges.at("I")[0].extent(), 8);
  ASSERT_EQ(ranges.at("U").size(), 2U);
  EXPECT_EQ(ranges.at("U")[0].min, 2) << "rows without terms do not count";
  EXPECT_EQ(ranges.at("U")[1].min, 2);
  EXPECT_EQ(ranges.at("U")[1].max, 7);
}

}  // namespace
}  // namespace tc::halide_bridge
