#include "tc/polyhedral/schedule/gather_coincident.h"

#include <gtest/gtest.h>

#include "test/support/isl_fixture.h"
#include "test/support/scop_builder.h"

namespace tc::polyhedral {
namespace {

class GatherCoincident : public IslTest {
 protected:
  /// The schedule of one statement S[k, i, j] under a band with the given attributes.
  isl::schedule gather(const std::string& attributes) const {
    auto scop =
        ScopBuilder(context()).output("C", {4, 4}).accumulate("S[k, i, j] : 0 <= k, i, j < 4", "C[i, j]", {}).scop();
    scop.schedule = schedule(R"({domain: "{ S[k, i, j] : 0 <= k, i, j < 4 }", child: {schedule: )"
                             R"("[{ S[k, i, j] -> [(k)] }, { S[k, i, j] -> [(i)] }, { S[k, i, j] -> [(j)] }]", )" +
                             attributes + "}}");
    return gather_coincident(scop);
  }
};

TEST_F(GatherCoincident, PermutesAPermutableBand) {
  EXPECT_SCHEDULE(gather("permutable: 1, coincident: [0, 1, 1]"), R"(
domain: "{ S[k, i, j] : 0 <= k, i, j < 4 }"
child:
  schedule: "[{ S[k, i, j] -> [(i)] }, { S[k, i, j] -> [(j)] }]"
  permutable: 1
  coincident: [ 1, 1 ]
  child:
    schedule: "[{ S[k, i, j] -> [(k)] }]"
    permutable: 1
)");
}

TEST_F(GatherCoincident, SplitsABandThatIsNotPermutable) {
  EXPECT_SCHEDULE(gather("coincident: [1, 0, 1]"), R"(
domain: "{ S[k, i, j] : 0 <= k, i, j < 4 }"
child:
  schedule: "[{ S[k, i, j] -> [(k)] }]"
  coincident: [ 1 ]
  child:
    schedule: "[{ S[k, i, j] -> [(i)] }, { S[k, i, j] -> [(j)] }]"
    coincident: [ 0, 1 ]
)");
}

TEST_F(GatherCoincident, LeavesABandWithoutCoincidentMembers) {
  EXPECT_SCHEDULE(gather("permutable: 1"), R"(
domain: "{ S[k, i, j] : 0 <= k, i, j < 4 }"
child:
  schedule: "[{ S[k, i, j] -> [(k)] }, { S[k, i, j] -> [(i)] }, { S[k, i, j] -> [(j)] }]"
  permutable: 1
)");
}

}  // namespace
}  // namespace tc::polyhedral
