#include "tc/strategy/construct/choose_grid_fusion.h"

#include <gtest/gtest.h>

#include "tc/polyhedral/schedule/schedule.h"
#include "test/support/isl_fixture.h"
#include "test/support/scop_builder.h"

namespace tc::strategy {
namespace {

using polyhedral::Scop;
using polyhedral::ScopBuilder;

class ChooseGridFusionTest : public polyhedral::IslTest {
 protected:
  /// The statements of each cluster.
  static std::vector<std::size_t> clusters(Scop scop) {
    const ChooseGridFusion criterion(scop, Target::parse("cuda:sm_90,multiprocessors=132"), {}, {});
    scop.schedule = polyhedral::compute_schedule(scop, polyhedral::compute_dependences(scop), {}, &criterion);
    std::vector<std::size_t> result;
    for (const auto& cluster : polyhedral::cluster_views(scop)) result.push_back(cluster.statements.size());
    return result;
  }
};

/// Together they have one parallel loop of 512 iterations, apart three and two loops.
TEST_F(ChooseGridFusionTest, ARowThatIsReadInAnotherShapeIsAKernelOfItsOwn) {
  const auto scop =
      ScopBuilder(context())
          .input("X", {2048, 512})
          .temporary("Z", {16, 128, 512})
          .output("Y", {2048, 512})
          .statement("S[i, j, n] : 0 <= i < 16 and 0 <= j < 128 and 0 <= n < 512", "Z[i, j, n]", {"X[128 i + j, n]"})
          .statement("R[m, n] : 0 <= m < 2048 and 0 <= n < 512", "Y[m, n]", {"Z[floor(m / 128), m mod 128, n]"})
          .scop();
  EXPECT_EQ(clusters(scop), (std::vector<std::size_t>{1, 1}));
}

TEST_F(ChooseGridFusionTest, PointwiseStatementsAreOneKernel) {
  const auto mn = std::string("0 <= m < 2048 and 0 <= n < 512");
  const auto scop = ScopBuilder(context())
                        .input("X", {2048, 512})
                        .temporary("Z", {2048, 512})
                        .output("Y", {2048, 512})
                        .statement("S[m, n] : " + mn, "Z[m, n]", {"X[m, n]"})
                        .statement("R[m, n] : " + mn, "Y[m, n]", {"Z[m, n]"})
                        .scop();
  EXPECT_EQ(clusters(scop), (std::vector<std::size_t>{2}));
}

}  // namespace
}  // namespace tc::strategy
