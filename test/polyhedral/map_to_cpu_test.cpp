#include "tc/polyhedral/map_cpu/map_to_cpu.h"

#include <gtest/gtest.h>

#include "test/support/isl_fixture.h"
#include "test/support/scop_builder.h"
#include "test/support/simulate.h"

namespace tc::polyhedral {
namespace {

class MapToCpu : public IslTest {
 protected:
  Scop matrix_product() const {
    auto scop =
        ScopBuilder(context())
            .input("A", {64, 32})
            .input("B", {32, 100})
            .output("C", {64, 100})
            .identity("I[m, n] : 0 <= m < 64 and 0 <= n < 100", "C[m, n]")
            .accumulate("U[m, n, k] : 0 <= m < 64 and 0 <= n < 100 and 0 <= k < 32", "C[m, n]", {"A[m, k]", "B[k, n]"})
            .scop();
    scop.schedule = schedule(R"(
domain: "{ I[m, n] : 0 <= m < 64 and 0 <= n < 100; U[m, n, k] : 0 <= m < 64 and 0 <= n < 100 and 0 <= k < 32 }"
child:
  schedule: "[{ I[m, n] -> [(m)]; U[m, n, k] -> [(m)] }, { I[m, n] -> [(n)]; U[m, n, k] -> [(n)] }]"
  permutable: 1
  coincident: [ 1, 1 ]
  child:
    sequence:
    - filter: "{ I[m, n] }"
    - filter: "{ U[m, n, k] }"
      child:
        schedule: "[{ U[m, n, k] -> [(k)] }]"
)");
    return scop;
  }
};

TEST_F(MapToCpu, WithoutAMappingNothingChanges) {
  auto scop = matrix_product();
  EXPECT_SCHEDULE(map_to_cpu(clustered(scop), Mapping{}).schedule, scop.schedule);
  EXPECT_SCHEDULE(map_to_cpu(clustered(scop), Mapping{.clusters = {{}}}).schedule, scop.schedule);
}

TEST_F(MapToCpu, SinksPointsBelowTheReduction) {
  ClusterMapping cluster{.members = {{0, 4}, {0, 16}}, .outermost = 0, .parallel = true, .register_tile = true};
  cluster.statements = {{"I", 1, 16}, {"U", 1, 16}};
  auto mapped = map_to_cpu(clustered(matrix_product()), {.clusters = {cluster}});
  EXPECT_SCHEDULE(mapped.schedule, R"(
domain: "{ I[m, n] : 0 <= m < 64 and 0 <= n < 100; U[m, n, k] : 0 <= m < 64 and 0 <= n < 100 and 0 <= k < 32 }"
child:
  mark: "parallel"
  child:
    schedule: "[{ I[m, n] -> [(floor(m/4))]; U[m, n, k] -> [(floor(m/4))] }]"
    permutable: 1
    coincident: [ 1 ]
    child:
      schedule: "[{ I[m, n] -> [(floor(n/16))]; U[m, n, k] -> [(floor(n/16))] }]"
      permutable: 1
      coincident: [ 1 ]
      options: "{ isolate[[o0] -> [t0]] : t0 <= 5 }"
      child:
        sequence:
        - filter: "{ I[m, n] }"
          child:
            mark: "register"
            child:
              schedule: "[{ I[m, n] -> [(m mod 4)] }]"
              permutable: 1
              coincident: [ 1 ]
              child:
                mark: "vector"
                child:
                  schedule: "[{ I[m, n] -> [(n mod 16)] }]"
                  permutable: 1
                  coincident: [ 1 ]
        - filter: "{ U[m, n, k] }"
          child:
            schedule: "[{ U[m, n, k] -> [(k)] }]"
            child:
              mark: "register"
              child:
                schedule: "[{ U[m, n, k] -> [(m mod 4)] }]"
                permutable: 1
                coincident: [ 1 ]
                child:
                  mark: "vector"
                  child:
                    schedule: "[{ U[m, n, k] -> [(n mod 16)] }]"
                    permutable: 1
                    coincident: [ 1 ]
)");
  EXPECT_EQ(mapped.statement("U").vector_lanes, 16);
}

/// O[h] +=! I[2h + k] K[k], 12 rows in tiles of 4, all iterations of k unrolled with them.
TEST_F(MapToCpu, SlidesAWindowAlongTheRows) {
  auto scop =
      ScopBuilder(context())
          .input("I", {25, 16})
          .input("K", {3})
          .output("O", {12, 16})
          .identity("Z[h, w] : 0 <= h < 12 and 0 <= w < 16", "O[h, w]")
          .accumulate("U[h, w, k] : 0 <= h < 12 and 0 <= w < 16 and 0 <= k < 3", "O[h, w]", {"I[2h + k, w]", "K[k]"})
          .scop();
  scop.schedule = schedule(R"(
domain: "{ Z[h, w] : 0 <= h < 12 and 0 <= w < 16; U[h, w, k] : 0 <= h < 12 and 0 <= w < 16 and 0 <= k < 3 }"
child:
  schedule: "[{ Z[h, w] -> [(h)]; U[h, w, k] -> [(h)] }, { Z[h, w] -> [(w)]; U[h, w, k] -> [(w)] }]"
  permutable: 1
  coincident: [ 1, 1 ]
  child:
    sequence:
    - filter: "{ Z[h, w] }"
    - filter: "{ U[h, w, k] }"
      child:
        schedule: "[{ U[h, w, k] -> [(k)] }]"
)");
  ClusterMapping cluster{.members = {{0, 4}, {0, 16}}, .register_tile = true};
  cluster.statements = {{"U", 1, 16}};
  cluster.window = {"U", 2, 0, 3, 2};
  auto mapped = map_to_cpu(clustered(scop), {.clusters = {cluster}});
  EXPECT_SCHEDULE(mapped.schedule, R"(
domain: "{ Z[h, w] : 0 <= h < 12 and 0 <= w < 16; U[h, w, k] : 0 <= h < 12 and 0 <= w < 16 and 0 <= k < 3 }"
child:
  schedule: "[{ Z[h, w] -> [(floor(h/4))]; U[h, w, k] -> [(floor(h/4))] }]"
  permutable: 1
  coincident: [ 1 ]
  child:
    sequence:
    - filter: "{ Z[h, w] }"
      child:
        schedule: "[{ Z[h, w] -> [(h mod 4)] }, { Z[h, w] -> [(w)] }]"
        permutable: 1
        coincident: [ 1, 1 ]
    - filter: "{ U[h, w, k] }"
      child:
        mark: "register"
        child:
          schedule: "[{ U[h, w, k] -> [(2*(h mod 4) + k)] }, { U[h, w, k] -> [(k)] }]"
          permutable: 1
          child:
            mark: "vector"
            child:
              schedule: "[{ U[h, w, k] -> [(w)] }]"
              permutable: 1
              coincident: [ 1 ]
)");
  EXPECT_EQ(simulate(mapped), simulate(scop));
}

}  // namespace
}  // namespace tc::polyhedral
