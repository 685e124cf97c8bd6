#include "tc/polyhedral/map_cpu/tile_cluster.h"

#include <gtest/gtest.h>

#include "tc/polyhedral/nest/nest_of_mapping.h"
#include "test/polyhedral/mapping_passes_fixture.h"
#include "test/support/simulate.h"

namespace tc::polyhedral {
namespace {

class TileCluster : public MappingPassTest {
 protected:
  isl::schedule tile(const Scop& scop, const ClusterMapping& mapping) const {
    const auto view = cluster_views(scop).at(0);
    const auto space = nest_space(scop, view);
    auto tiled = tile_cluster(scop, {view, space, nest_of(space, mapping), 0});
    auto result = scop;
    result.schedule = tiled.schedule;
    EXPECT_EQ(simulate(result), simulate(scop));
    return tiled.schedule;
  }
};

TEST_F(TileCluster, SinksPointsBelowInnerLoops) {
  EXPECT_SCHEDULE(tile(row_sums(), {.members = {{0, 4}}}), R"(
domain: "{ I[i] : 0 <= i < 8; U[i, k] : 0 <= i < 8 and 0 <= k < 20 }"
child:
  schedule: "[{ I[i] -> [(floor(i/4))]; U[i, k] -> [(floor(i/4))] }]"
  permutable: 1
  coincident: [ 1 ]
  child:
    sequence:
    - filter: "{ I[i] }"
      child:
        schedule: "[{ I[i] -> [(i mod 4)] }]"
        permutable: 1
        coincident: [ 1 ]
    - filter: "{ U[i, k] }"
      child:
        schedule: "[{ U[i, k] -> [(k)] }]"
        child:
          schedule: "[{ U[i, k] -> [(i mod 4)] }]"
          permutable: 1
          coincident: [ 1 ]
)");
}

TEST_F(TileCluster, BlocksStandAboveTilesThreadsAboveBlocks) {
  EXPECT_SCHEDULE(tile(row_sums(30), {.members = {{6, 2}}, .outermost = 0, .parallel = true}), R"(
domain: "{ I[i] : 0 <= i < 30; U[i, k] : 0 <= i < 30 and 0 <= k < 20 }"
child:
  schedule: "[{ I[i] -> [(floor(i/6))]; U[i, k] -> [(floor(i/6))] }]"
  permutable: 1
  coincident: [ 1 ]
  child:
    schedule: "[{ I[i] -> [(floor(i/2) - 3*floor(i/6))]; U[i, k] -> [(floor(i/2) - 3*floor(i/6))] }]"
    permutable: 1
    coincident: [ 1 ]
    child:
      sequence:
      - filter: "{ I[i] }"
        child:
          schedule: "[{ I[i] -> [(i mod 2)] }]"
          permutable: 1
          coincident: [ 1 ]
      - filter: "{ U[i, k] }"
        child:
          schedule: "[{ U[i, k] -> [(k)] }]"
          child:
            schedule: "[{ U[i, k] -> [(i mod 2)] }]"
            permutable: 1
            coincident: [ 1 ]
)");
}

TEST_F(TileCluster, TilesTheInnerLoopOfLanesAndIsolatesFullOnes) {
  ClusterMapping mapping{.members = {{}}, .statements = {{"U", 1, 4, 2}}};
  EXPECT_SCHEDULE(tile(row_sums(), mapping), R"(
domain: "{ I[i] : 0 <= i < 8; U[i, k] : 0 <= i < 8 and 0 <= k < 20 }"
child:
  schedule: "[{ I[i] -> [(i)]; U[i, k] -> [(i)] }]"
  permutable: 1
  coincident: [ 1 ]
  child:
    sequence:
    - filter: "{ I[i] }"
    - filter: "{ U[i, k] }"
      child:
        schedule: "[{ U[i, k] -> [(floor(k/8))] }]"
        permutable: 1
        options: "{ isolate[[o0] -> [t0]] : t0 <= 1 }"
        child:
          schedule: "[{ U[i, k] -> [(k mod 8)] }]"
          permutable: 1
)");
}

TEST_F(TileCluster, IsolatesFullBlocksOfOneTile) {
  auto scop =
      ScopBuilder(context()).output("C", {10, 6}).statement("S[i, j] : 0 <= i < 10 and 0 <= j < 6", "C[i, j]").scop();
  scop.schedule = schedule(R"({domain: "{ S[i, j] : 0 <= i < 10 and 0 <= j < 6 }", child: {
                               schedule: "[{ S[i, j] -> [(i)] }, { S[i, j] -> [(j)] }]", permutable: 1, coincident: [1, 1]}})");
  EXPECT_SCHEDULE(tile(scop, {.members = {{4, 4}, {}}, .outermost = 0}), R"(
domain: "{ S[i, j] : 0 <= i <= 9 and 0 <= j <= 5 }"
child:
  schedule: "[{ S[i, j] -> [(floor((i)/4))] }]"
  permutable: 1
  coincident: [ 1 ]
  child:
    schedule: "[{ S[i, j] -> [(0)] }, { S[i, j] -> [(j)] }]"
    permutable: 1
    coincident: [ 1, 1 ]
    options: "{ isolate[[o0] -> [t0, t1]] : t0 <= 1 - o0 }"
    child:
      schedule: "[{ S[i, j] -> [((i) mod 4)] }]"
      permutable: 1
      coincident: [ 1 ]
)");
}

TEST_F(TileCluster, TellsFullBlocksOfOneTileFromPartialOnesInALoopOfTheirOwn) {
  auto scop =
      ScopBuilder(context()).output("C", {10, 7}).statement("S[i, j] : 0 <= i < 10 and 0 <= j < 7", "C[i, j]").scop();
  scop.schedule = schedule(R"({domain: "{ S[i, j] : 0 <= i < 10 and 0 <= j < 7 }", child: {
                               schedule: "[{ S[i, j] -> [(i)] }, { S[i, j] -> [(j)] }]", permutable: 1, coincident: [1, 1]}})");
  EXPECT_SCHEDULE(tile(scop, {.members = {{4, 4}, {0, 2}}, .outermost = 0}), R"(
domain: "{ S[i, j] : 0 <= i <= 9 and 0 <= j <= 6 }"
child:
  schedule: "[{ S[i, j] -> [(floor((i)/4))] }]"
  permutable: 1
  coincident: [ 1 ]
  child:
    schedule: "[{ S[i, j] -> [(0)] }]"
    permutable: 1
    coincident: [ 1 ]
    options: "{ isolate[[o0] -> [t0]] : t0 <= 1 - o0 }"
    child:
      schedule: "[{ S[i, j] -> [(floor((j)/2))] }]"
      permutable: 1
      coincident: [ 1 ]
      options: "{ isolate[[o0, o1] -> [t0]] : t0 <= 2 }"
      child:
        schedule: "[{ S[i, j] -> [((i) mod 4)] }, { S[i, j] -> [((j) mod 2)] }]"
        permutable: 1
        coincident: [ 1, 1 ]
)");
}

TEST_F(TileCluster, LeavesOutLoopsOfOneIteration) {
  EXPECT_SCHEDULE(tile(row_sums(3), {.members = {{0, 4}}}), R"(
domain: "{ I[i] : 0 <= i < 3; U[i, k] : 0 <= i < 3 and 0 <= k < 20 }"
child:
  sequence:
  - filter: "{ I[i] }"
    child:
      schedule: "[{ I[i] -> [(i)] }]"
      permutable: 1
      coincident: [ 1 ]
  - filter: "{ U[i, k] }"
    child:
      schedule: "[{ U[i, k] -> [(k)] }]"
      child:
        schedule: "[{ U[i, k] -> [(i)] }]"
        permutable: 1
        coincident: [ 1 ]
)");
}

}  // namespace
}  // namespace tc::polyhedral
