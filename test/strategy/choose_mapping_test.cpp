#include "tc/strategy/choose_mapping.h"

#include <gtest/gtest.h>

#include "test/support/isl_fixture.h"
#include "test/support/scop_builder.h"

namespace tc::strategy {
namespace {

using polyhedral::MappingOptions;
using polyhedral::Scop;
using polyhedral::ScopBuilder;

class ChooseMapping : public polyhedral::IslTest {
 protected:
  /// C = A elementwise over an n x m box, scheduled as one coincident band.
  Scop pointwise(int n, int m) const {
    auto scop = ScopBuilder(context())
                    .input("A", {n, m})
                    .output("C", {n, m})
                    .statement(str("S[i, j] : 0 <= i < ", n, " and 0 <= j < ", m), "C[i, j]", {"A[i, j]"})
                    .scop();
    scop.schedule = schedule(str(R"({domain: "{ S[i, j] : 0 <= i < )", n, " and 0 <= j < ", m,
                                 R"( }", child: {schedule: "[{ S[i, j] -> [(i)] }, { S[i, j] -> [(j)] }]", permutable: 1, )"
                                 R"(coincident: [1, 1]}})"));
    return scop;
  }
  std::string choose(const Scop& scop, const MappingOptions& options = {}) const {
    return to_string(choose_mapping(scop, Target::parse("cpu:avx512,cores=2"), options));
  }
};

TEST_F(ChooseMapping, SmallWorkStaysSerial) { EXPECT_EQ(choose(pointwise(20, 30)), "points 1x16, S: i1 x16\n"); }

TEST_F(ChooseMapping, RowsRunOnThreads) { EXPECT_EQ(choose(pointwise(64, 20000)), "parallel 0, points 1x16, S: i1 x16\n"); }

TEST_F(ChooseMapping, ShortRowsAreGroupedInBlocks) {
  EXPECT_EQ(choose(pointwise(4096, 1024)), "parallel 0, blocks 16x0, points 1x16, S: i1 x16\n");
}

TEST_F(ChooseMapping, FewRowsLeaveTheThreadsToColumns) {
  EXPECT_EQ(choose(pointwise(1, 1 << 20)), "parallel 1, blocks 0x16384, points 1x16, S: i1 x16\n");
}

TEST_F(ChooseMapping, OptionsRestrict) {
  EXPECT_EQ(choose(pointwise(64, 20000), {.parallel = false}), "points 1x16, S: i1 x16\n");
  EXPECT_EQ(choose(pointwise(64, 20000), {.vectorise = false}), "parallel 0\n");
  EXPECT_EQ(choose(pointwise(64, 20000), {.tile = {8, 100}}), "parallel 0, blocks 8x100, points 1x16, S: i1 x16\n");
}

}  // namespace
}  // namespace tc::strategy
