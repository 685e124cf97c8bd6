#include "tc/polyhedral/map/privatise_reduction.h"

#include <gtest/gtest.h>

#include "test/polyhedral/mapping_passes_fixture.h"
#include "test/support/simulate.h"

namespace tc::polyhedral {
namespace {

using PrivatiseReduction = MappingPassTest;

TEST_F(PrivatiseReduction, ExpandsTheAccumulatorAndCombinesIt) {
  auto scop = row_sums();
  ClusterState cluster{.has_band = true};
  auto result = privatise_reduction(scop, {0}, {"U", 1, 4, 2}, cluster);
  EXPECT_SCHEDULE(result.schedule, R"(
domain: "{ I[i] : 0 <= i < 8; U[i, k] : 0 <= i < 8 and 0 <= k < 20; U_identity[i0, w] : 0 <= i0 < 8 and 0 <= w < 8; U_fold[i0, w] : 0 <= i0 < 8 and 4 <= w < 8; U_combine[i0, w] : 0 <= i0 < 8 and 0 <= w < 4 }"
child:
  schedule: "[{ I[i] -> [(i)]; U[i, k] -> [(i)]; U_identity[i0, w] -> [(i0)]; U_fold[i0, w] -> [(i0)]; U_combine[i0, w] -> [(i0)] }]"
  permutable: 1
  coincident: [ 1 ]
  child:
    sequence:
    - filter: "{ I[i] }"
    - filter: "{ U[i, k]; U_identity[i0, w]; U_fold[i0, w]; U_combine[i0, w] }"
      child:
        sequence:
        - filter: "{ U_identity[i0, w] }"
          child:
            schedule: "[{ U_identity[i0, w] -> [(w)] }]"
            permutable: 1
        - filter: "{ U[i, k] }"
          child:
            schedule: "[{ U[i, k] -> [(k)] }]"
        - filter: "{ U_fold[i0, w] }"
          child:
            schedule: "[{ U_fold[i0, w] -> [(w)] }]"
            permutable: 1
        - filter: "{ U_combine[i0, w] }"
          child:
            schedule: "[{ U_combine[i0, w] -> [(w)] }]"
            permutable: 1
)");
  EXPECT_EQ(order(result), (std::vector<std::string>{"I", "U_identity", "U", "U_fold", "U_combine"}));
  EXPECT_TRUE(writes(result, "U", "U[i, k] -> lanes_U[i, k mod 8]"));
  EXPECT_TRUE(writes(result, "U_identity", "U_identity[i, w] -> lanes_U[i, w]"));
  EXPECT_TRUE(writes(result, "U_fold", "U_fold[i, w] -> lanes_U[i, w - 4]"));
  EXPECT_TRUE(result.statement("U_fold").accumulates);
  EXPECT_TRUE(writes(result, "U_combine", "U_combine[i, w] -> C[i]"));
  EXPECT_TRUE(result.statement("U_combine").accumulates);
  EXPECT_EQ(result.tensor("lanes_U").extent, (std::vector<std::int64_t>{8, 8}));
  EXPECT_TRUE(result.tensor("lanes_U").combined);
  EXPECT_EQ(cluster.statement("U_fold").unroll, 2);
  EXPECT_EQ(cluster.statement("U_combine").lanes, 4);
  EXPECT_EQ(simulate(result), simulate(scop));
}

TEST_F(PrivatiseReduction, ReducesToAScalarToo) {
  auto scop =
      ScopBuilder(context()).input("A", {20}).output("s", {}).accumulate("U[k] : 0 <= k < 20", "s[]", {"A[k]"}).scop();
  ClusterState cluster;
  auto result = privatise_reduction(scop, {0}, {"U", 0, 8, 1}, cluster);
  EXPECT_TRUE(writes(result, "U", "U[k] -> lanes_U[k mod 8]"));
  EXPECT_EQ(order(result), (std::vector<std::string>{"U_identity", "U", "U_combine"}));
  EXPECT_EQ(simulate(result), simulate(scop));
}

}  // namespace
}  // namespace tc::polyhedral
