#include "tc/polyhedral/pack.h"

#include <gtest/gtest.h>

#include "test/support/isl_fixture.h"
#include "test/support/scops.h"
#include "test/support/simulate.h"
#include "tc/polyhedral/map_to_cpu.h"
#include "tc/polyhedral/verify.h"

namespace tc::polyhedral {
namespace {

class Pack : public IslTest {
 protected:
  /// A 9 x 11 x 5 product below the band [m, n].
  Scop product() const {
    auto scop = scops::matmul(context(), 9, 11, 5);
    scop.schedule = schedule(R"(
domain: "{ S0[m, n] : 0 <= m < 9 and 0 <= n < 11; S1[m, n, k] : 0 <= m < 9 and 0 <= n < 11 and 0 <= k < 5 }"
child:
  schedule: "[{ S0[m, n] -> [(m)]; S1[m, n, k] -> [(m)] }, { S0[m, n] -> [(n)]; S1[m, n, k] -> [(n)] }]"
  permutable: 1
  coincident: [ 1, 1 ]
  child:
    sequence:
    - filter: "{ S0[m, n] }"
    - filter: "{ S1[m, n, k] }"
      child:
        schedule: "[{ S1[m, n, k] -> [(k)] }]"
)");
    return scop;
  }
};

TEST_F(Pack, KnowsIndicesThatAreIterators) {
  auto scop = product();
  EXPECT_EQ(index_iterators(scop.statement("S1"), 1), (std::vector<int>{2, 1}));
  auto other = ScopBuilder(context()).input("A", {9, 9}).output("C", {4})
                   .statement("S[i] : 0 <= i < 4", "C[i]", {"A[i, i]", "A[i, 2i]", "A[i, 3]"}).scop();
  for (int read : {0, 1, 2}) EXPECT_EQ(index_iterators(other.statement("S"), read), std::vector<int>());
}

TEST_F(Pack, CopiesThePanelOfOneIterationOfTheOutermostLoop) {
  auto scop = product();
  ClusterMapping cluster{.members = {{0, 2}, {0, 4}}, .outermost = 1, .parallel = true, .register_tile = true};
  cluster.statements = {{"S0", 1, 4}, {"S1", 1, 4}};
  cluster.staged = {"O"};
  cluster.packed = {{"S1", 1, 4}};
  cluster.copies = {"", 1, 4};
  auto dependences = compute_dependences(scop);
  auto mapped = map_to_cpu(scop, {.clusters = {cluster}});
  verify(mapped, dependences);
  EXPECT_EQ(simulate(mapped), simulate(scop));
  EXPECT_TRUE(mapped.statement("S1").reads[1].function.as_map().is_equal(
      map("{ S1[m, n, k] -> local_packed_B[k, n mod 4] }")));
  EXPECT_EQ(mapped.tensor("local_packed_B").extent, (std::vector<std::int64_t>{5, 4}));
  EXPECT_EQ(mapped.statement("pack_B").vector_lanes, 4);
}

}  // namespace
}  // namespace tc::polyhedral
