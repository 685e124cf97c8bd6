#include "tc/polyhedral/map_cpu/mark_parallel.h"

#include "test/polyhedral/mapping_passes_fixture.h"
#include "test/support/rejects.h"

namespace tc::polyhedral {
namespace {

using namespace build;

class MarkParallel : public MappingPassTest {
 protected:
  isl::schedule square(std::vector<int> coincident) const {
    return domain(ctx(), "{ S[i, j] : 0 <= i, j < 8 }",
                  band("[{ S[i, j] -> [(i)] }, { S[i, j] -> [(j)] }]", {}, {true, std::move(coincident)}));
  }
};

TEST_F(MarkParallel, StandsAboveTheFirstMemberAlone) {
  EXPECT_SCHEDULE(mark_parallel(square({1, 1}), {0}), R"(
domain: "{ S[i, j] : 0 <= i <= 7 and 0 <= j <= 7 }"
child:
  mark: "parallel"
  child:
    schedule: "[{ S[i, j] -> [(i)] }]"
    permutable: 1
    coincident: [ 1 ]
    child:
      schedule: "[{ S[i, j] -> [(j)] }]"
      permutable: 1
      coincident: [ 1 ]
)");
}

TEST_F(MarkParallel, RefusesALoopThatCarriesADependence) {
  EXPECT_TRUE(rejects([&] { mark_parallel(square({0, 1}), {0}); }, "the loop to run in parallel carries a dependence"));
}

TEST_F(MarkParallel, RefusesWhatIsNoBand) {
  auto marked = domain(ctx(), "{ S[i] : 0 <= i < 8 }", mark("vector", coincident_band("[{ S[i] -> [(i)] }]", 1)));
  EXPECT_TRUE(rejects([&] { mark_parallel(marked, {0}); }, "a parallel mark needs a band below it"));
  EXPECT_NO_THROW(mark_parallel(marked, {0, 0}));
}

}  // namespace
}  // namespace tc::polyhedral
