#include "tc/polyhedral/map_cpu/pack.h"

#include <gtest/gtest.h>

#include "tc/base/contains.h"
#include "tc/polyhedral/generate/generate.h"
#include "tc/polyhedral/laws/verify.h"
#include "tc/polyhedral/map_cpu/cpu_passes.h"
#include "tc/polyhedral/map_cpu/map_to_cpu.h"
#include "tc/polyhedral/map_cpu/pack_reads.h"
#include "tc/polyhedral/nest/nest_of_mapping.h"
#include "tc/polyhedral/schedule/schedule.h"
#include "test/support/isl_fixture.h"
#include "test/support/scops.h"
#include "test/support/simulate.h"

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
  /// \p scop mapped, under all laws and with the same results.
  Scop map(const Scop& scop, const ClusterMapping& cluster) const {
    auto mapped = map_to_cpu(clustered(scop), {.clusters = {cluster}});
    verify(mapped, compute_dependences(scop));
    EXPECT_EQ(simulate(mapped), simulate(scop));
    return mapped;
  }
  /// Blocks of 8 columns, of 2 steps of the reduction and of 4 rows, with both operands packed.
  static ClusterMapping both_packed() {
    ClusterMapping cluster{.members = {{4, 2}, {8, 4}}, .outermost = 1, .register_tile = true};
    cluster.statements = {{"S0", 1, 4}, {"S1", 1, 4}};
    cluster.reduction = {.statement = "S1", .iterator = 2, .size = 2};
    cluster.packed = {{.statement = "S1", .read = 1, .panel = 1, .size = 4, .lanes = 4},
                      {.statement = "S1", .read = 0, .panel = 0, .size = 2, .below_blocks = true, .lanes = 4}};
    cluster.copies = {"", 1, 4};
    return cluster;
  }
};

TEST_F(Pack, KnowsIndicesThatAreIterators) {
  auto scop = product();
  EXPECT_EQ(index_iterators(scop.statement("S1"), 1), (std::vector<int>{2, 1}));
  auto other = ScopBuilder(context())
                   .input("A", {9, 9})
                   .output("C", {4})
                   .statement("S[i] : 0 <= i < 4", "C[i]", {"A[i, i]", "A[i, 2i]", "A[i, 3]"})
                   .scop();
  for (int read : {0, 1, 2}) EXPECT_EQ(index_iterators(other.statement("S"), read), std::vector<int>());
}

/// The passes up to pack_reads, all clusters or one: places lead past the copies, to what reads them.
TEST_F(Pack, MovesThePlacesOfTheTilePastTheCopies) {
  auto whole = clustered(product());
  const auto space = nest_space(whole.scop, whole.clusters.at(0));
  const auto nest = nest_of(space, both_packed());
  CpuCluster cluster(whole.clusters.at(0), space, nest, 0);
  auto scop = whole.scop;
  for (const auto& pass : cpu_passes()) {
    if (std::string(pass.name) == "pack") break;
    scop = pass.run(scop, cluster);
  }
  auto before = cluster.places;
  scop = pack_reads(scop, cluster);
  auto below = [&](const std::vector<int>& path) { return statement_ids(node_at(scop.schedule, path)); };
  for (const char* copy : {"pack_A", "pack_B"}) {
    EXPECT_FALSE(contains(below(cluster.places.inside()), std::string(copy))) << copy;
    EXPECT_TRUE(contains(below(cluster.places.start()), std::string(copy))) << copy;
  }
  EXPECT_TRUE(contains(below(cluster.places.inside()), std::string("S1")));
  EXPECT_GT(cluster.places.inside().size(), before.inside().size());
  EXPECT_EQ(cluster.state.statement("pack_B").lanes, 4);
  EXPECT_EQ(cluster.nest, nest) << "a pass changed the decision";
}

TEST_F(Pack, CopiesPanelsBelowTheLoopsAboveThem) {
  auto scop = product();
  ClusterMapping cluster{.members = {{0, 2}, {8, 4}}, .outermost = 1, .parallel = true, .register_tile = true};
  cluster.statements = {{"S0", 1, 4}, {"S1", 1, 4}};
  cluster.staged = {"O"};
  cluster.packed = {{.statement = "S1", .read = 1, .panel = 1, .size = 4, .lanes = 4}};
  cluster.copies = {"", 1, 4};
  auto mapped = map(scop, cluster);
  EXPECT_TRUE(mapped.statement("S1").reads[1].function.as_map().is_equal(
      IslTest::map("{ S1[m, n, k] -> local_packed_B[floor(n/4) - 2 * floor(n/8), k, n mod 4] }")));
  EXPECT_EQ(mapped.tensor("local_packed_B").extent, (std::vector<std::int64_t>{2, 5, 4}));
  EXPECT_EQ(mapped.statement("pack_B").vector_lanes, 4);
}

TEST_F(Pack, CopiesAgainForEachIterationThatDoesNotIndexTheTensor) {
  auto cluster = both_packed();
  cluster.outermost = 0;
  cluster.members[0].block = 4;
  auto mapped = map(product(), cluster);
  EXPECT_EQ(mapped.statement("pack_B").iterators, (std::vector<std::string>{"b0", "i2", "i1"}));
  EXPECT_EQ(mapped.tensor("local_packed_B").extent, (std::vector<std::int64_t>{1, 3, 2, 4}));
}

TEST_F(Pack, CopiesBlocksOfTheReductionAndOfTheRows) {
  auto mapped = map(product(), both_packed());
  EXPECT_EQ(mapped.tensor("local_packed_A").extent, (std::vector<std::int64_t>{1, 2, 2, 2}));
  EXPECT_EQ(mapped.tensor("local_packed_B").extent, (std::vector<std::int64_t>{2, 2, 4}));
  EXPECT_EQ(mapped.tensor("local_parts_S1").extent, (std::vector<std::int64_t>{2, 4, 1}));
}

TEST_F(Pack, KeepsRowsWholeWhereTheTensorIsContiguousAlongTheReduction) {
  auto cluster = both_packed();
  cluster.packed[1].panel_last = false;
  auto mapped = map(product(), cluster);
  EXPECT_TRUE(mapped.statement("S1").reads[0].function.as_map().is_equal(
      IslTest::map("{ S1[m, n, k] -> local_packed_A[0, floor(m/2) - 2 * floor(m/4), m mod 2, k mod 2] }")));
}

TEST_F(Pack, CopiesTheWholeTensorWhereNoLoopStandsAbove) {
  ClusterMapping cluster{.members = {{0, 2}, {0, 4}}};
  cluster.packed = {{.statement = "S1", .read = 1, .panel = 1, .size = 4, .lanes = 4}};
  auto mapped = map(product(), cluster);
  EXPECT_EQ(mapped.tensor("local_packed_B").extent, (std::vector<std::int64_t>{3, 5, 4}));
}

/// 11 columns in a panel of 12, across rows of 8: two square blocks of four columns, and three columns more.
TEST_F(Pack, SetsWholeSquaresOfAPanelApartThatIsNotWhole) {
  auto scop =
      ScopBuilder(context())
          .input("A", {9, 8})
          .input("B", {11, 8})
          .output("O", {9, 11})
          .identity("S0[m, n] : 0 <= m < 9 and 0 <= n < 11", "O[m, n]")
          .accumulate("S1[m, n, k] : 0 <= m < 9 and 0 <= n < 11 and 0 <= k < 8", "O[m, n]", {"A[m, k]", "B[n, k]"})
          .scop();
  scop.schedule = compute_schedule(scop, compute_dependences(scop), {});
  ClusterMapping cluster{.members = {{0, 3}, {0, 12}}, .register_tile = true};
  cluster.statements = {{"S0", 1, 4}, {"S1", 1, 4}};
  cluster.packed = {{.statement = "S1", .read = 1, .panel = 1, .size = 12, .lanes = 4}};
  cluster.copies = {"", 1, 4};
  const auto code = print(generate_ast(map(scop, cluster)));
  EXPECT_NE(code.find("c4 <= 3; c4 += 1)\n          pack_B(4 * c1 + c4, "), std::string::npos)
      << "whole ones: " << code;
  EXPECT_NE(code.find("c4 <= 2; c4 += 1)\n        pack_B(c4 + 8, "), std::string::npos) << "the rest: " << code;
}

TEST_F(Pack, KeepsWhatADotProductSumsSideBySide) {
  auto cluster = both_packed();
  cluster.reduction = {};
  cluster.packed[1].panel_last = false;
  cluster.dot = {.statement = "S1", .iterator = 2, .width = 2};
  auto mapped = map(product(), cluster);
  EXPECT_TRUE(mapped.statement("S1").reads[1].function.as_map().is_equal(
      IslTest::map("{ S1[m, n, k] -> local_packed_B[floor(n/4) - 2 * floor(n/8), floor(k/2), n mod 4, k mod 2] }")));
  EXPECT_EQ(mapped.tensor("local_packed_B").extent, (std::vector<std::int64_t>{2, 3, 4, 2}));
  auto text = print_block(mapped.schedule);
  EXPECT_NE(text.find("[{ S1[m, n, k] -> [((m) mod 2)] }, { S1[m, n, k] -> [((k) mod 2)] }]"), std::string::npos)
      << text;
}

TEST_F(Pack, LaysOutTheFactorsOfProductsOfMatricesAndKeepsTheirType) {
  auto cluster = both_packed();
  cluster.reduction = {};
  cluster.packed[1].panel_last = false;
  cluster.dot = {.statement = "S1", .iterator = 2, .width = 2, .steps = 2};
  cluster.statements = {{"S0", 1, 4}};
  auto scop = product();
  for (auto& tensor : scop.tensors)
    if (tensor.name != "O") tensor.type = DType::BFloat16;
  auto mapped = map(scop, cluster);
  EXPECT_TRUE(mapped.statement("S1").reads[1].function.as_map().is_equal(
      IslTest::map("{ S1[m, n, k] -> local_packed_B[floor(n/4) - 2 * floor(n/8), floor(k/2), n mod 4, k mod 2] }")));
  EXPECT_TRUE(mapped.statement("S1").reads[0].function.as_map().is_equal(
      IslTest::map("{ S1[m, n, k] -> local_packed_A[0, floor(m/2) - 2 * floor(m/4), floor(k/4), m mod 2, k mod 4] }")))
      << mapped.statement("S1").reads[0].function;
  EXPECT_EQ(mapped.tensor("local_packed_B").type, DType::BFloat16);
  EXPECT_EQ(mapped.statement("S1").vector_lanes, 0);
}

/// C(b, m, n) += A(b, m, k) B(n, k, b): the copy is transposed in blocks along b, which the lanes do not follow.
TEST_F(Pack, ReadsWholeLinesAlongMembersBelowTheCopy) {
  auto scop = ScopBuilder(context())
                  .input("A", {8, 4, 3})
                  .input("B", {8, 3, 8})
                  .output("C", {8, 4, 8})
                  .identity("S0[b, m, n] : 0 <= b, n < 8 and 0 <= m < 4", "C[b, m, n]")
                  .accumulate("S1[b, m, n, k] : 0 <= b, n < 8 and 0 <= m < 4 and 0 <= k < 3", "C[b, m, n]",
                              {"A[b, m, k]", "B[n, k, b]"})
                  .scop();
  scop.schedule = compute_schedule(scop, compute_dependences(scop), {});
  ClusterMapping cluster{.members = {{4, 1}, {0, 2}, {0, 8}}, .outermost = 0, .register_tile = true};
  cluster.statements = {{"S0", 2, 4}, {"S1", 2, 4}};
  cluster.packed = {{.statement = "S1", .read = 1, .panel = 2, .size = 8, .lanes = 4}};
  auto mapped = map(scop, cluster);
  EXPECT_EQ(mapped.tensor("local_packed_B").extent, (std::vector<std::int64_t>{4, 1, 3, 8}));
  EXPECT_NE(print_block(mapped.schedule).find("{ pack_B[i2, i3, i0] -> [((i0) mod 4)] }]"), std::string::npos)
      << print_block(mapped.schedule);
}

}  // namespace
}  // namespace tc::polyhedral
