#include "tc/polyhedral/map/fuse_in_strips.h"

#include <gtest/gtest.h>

#include "tc/base/error.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/laws/verify.h"
#include "tc/polyhedral/map/cut_statement.h"
#include "tc/polyhedral/map_cpu/check_mapping.h"
#include "tc/polyhedral/map_cpu/contract_strips.h"
#include "tc/polyhedral/map_cpu/map_to_cpu.h"
#include "tc/polyhedral/nest/nest_of_mapping.h"
#include "tc/polyhedral/nest/nest_text.h"
#include "tc/polyhedral/schedule/schedule.h"
#include "test/polyhedral/mapping_passes_fixture.h"
#include "test/support/simulate.h"

namespace tc::polyhedral {
namespace {

class FuseInStrips : public MappingPassTest {
 protected:
  static ClusteredScop scheduled(Scop scop) {
    scop.schedule = compute_schedule(scop, compute_dependences(scop), {.fusion = FusionStrategy::Min});
    return clustered(scop);
  }
  static bool is_possible(const ClusteredScop& scop, const Strips& strips) {
    return can_fuse_in_strips(scop, compute_dependences(scop.scop), strips);
  }
  static void expect_same(const ClusteredScop& before, const Scop& after) {
    EXPECT_EQ(simulate(after), simulate(before.scop));
    EXPECT_NO_THROW(verify(after, compute_dependences(after)));
  }
  /// \p scop, mapped with the mappings that decide nothing.
  static Scop mapped(const Scop& scop) {
    const auto clusters = clustered(scop);
    return map_to_cpu(clusters, {.clusters = std::vector<ClusterMapping>(clusters.clusters.size())});
  }
  /// s(h, i, j) = sum of Q(h, i, d) * K(h, j, d), O(h, i, c) = sum of s(h, i, j) * V(h, j, c), with s read at \p read.
  ClusteredScop two_products(const char* read = "s[h, i, j]") const {
    return scheduled(ScopBuilder(context())
                         .input("Q", {2, 7, 3})
                         .input("K", {2, 5, 3})
                         .input("V", {2, 5, 4})
                         .temporary("s", {2, 7, 5})
                         .output("O", {2, 7, 4})
                         .identity("I[h, i, j] : 0 <= h < 2 and 0 <= i < 7 and 0 <= j < 5", "s[h, i, j]")
                         .accumulate("S[h, i, j, d] : 0 <= h < 2 and 0 <= i < 7 and 0 <= j < 5 and 0 <= d < 3",
                                     "s[h, i, j]", {"Q[h, i, d]", "K[h, j, d]"})
                         .identity("J[h, i, c] : 0 <= h < 2 and 0 <= i < 7 and 0 <= c < 4", "O[h, i, c]")
                         .accumulate("T[h, i, c, j] : 0 <= h < 2 and 0 <= i < 7 and 0 <= c < 4 and 0 <= j < 5",
                                     "O[h, i, c]", {read, "V[h, j, c]"})
                         .scop());
  }
  const Strips rows{.first = 0, .loops = {{0, 1}, {0, 1}}, .cut = 1, .size = 3};
};

TEST_F(FuseInStrips, ClustersRunStripByStrip) {
  const auto scop = two_products();
  ASSERT_EQ(scop.clusters.size(), 2u);
  ASSERT_TRUE(is_possible(scop, rows));
  const auto result = fuse_in_strips(scop, {rows});
  const auto views = cluster_views(result);
  ASSERT_EQ(views.size(), 2u);
  for (const auto& view : views) {
    EXPECT_TRUE(view.in_strips());
    ASSERT_EQ(view.members.size(), 2u) << "the place in the strip, and the column";
    EXPECT_EQ(view.members[0].extent(), 3);
  }
  EXPECT_TRUE(writes(result, "S", "S[p, h, i, j, d] -> s[h, 3p + i, j]"));
  EXPECT_EQ(result.statement("S").iterators, (std::vector<std::string>{"i_part", "h", "i", "j", "d"}));
  expect_same(scop, result);
}

TEST_F(FuseInStrips, AnySizeAndEitherLoopOutermost) {
  const auto scop = two_products();
  for (int size : {1, 2, 6, 7})
    for (int cut : {0, 1}) {
      Strips strips{.first = 0, .loops = {{1 - cut, cut}, {1 - cut, cut}}, .cut = 1, .size = size};
      expect_same(scop, fuse_in_strips(scop, {strips}));
      strips = {.first = 0, .loops = {{cut, 1 - cut}, {cut, 1 - cut}}, .cut = 0, .size = size};
      expect_same(scop, fuse_in_strips(scop, {strips}));
    }
  expect_same(scop, fuse_in_strips(scop, {Strips{.first = 0, .loops = {{1}, {1}}, .cut = 0, .size = 2}}));
}

TEST_F(FuseInStrips, TemporariesOfAStripHaveBuffersOfItsSize) {
  const auto scop = two_products();
  for (int size : {2, 3, 7}) {
    auto strips = rows;
    strips.size = size;
    const auto result = mapped(fuse_in_strips(scop, {strips}));
    EXPECT_EQ(result.tensor("local_s").extent, (std::vector<std::int64_t>{1, size, 5}));
    EXPECT_EQ(simulate(result), simulate(scop.scop));
    EXPECT_NO_THROW(verify(result, compute_dependences(fuse_in_strips(scop, {strips}))));
  }
}

TEST_F(FuseInStrips, ClustersLearnWhereTheyStandBelowBuffers) {
  const auto inner = clustered(fuse_in_strips(two_products(), {rows}));
  std::vector<CpuCluster> clusters;
  for (const auto& view : inner.clusters) clusters.emplace_back(view, NestSpace(), Nest(), 0);
  const auto result = contract_strips(inner.scop, {&clusters[0], &clusters[1]});
  EXPECT_TRUE(result.has_tensor("local_s"));
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    const auto& path = clusters[i].view.path;
    EXPECT_EQ(path.size(), inner.clusters[i].path.size() + 1) << "one mark more above";
    EXPECT_EQ(statement_ids(node_at(result.schedule, path)),
              statement_ids(node_at(inner.scop.schedule, inner.clusters[i].path)));
  }
}

TEST_F(FuseInStrips, WhatAnotherStripMakesIsNotThere) {
  EXPECT_FALSE(is_possible(two_products("s[h, 6 - i, j]"), rows));
  EXPECT_FALSE(is_possible(two_products("s[1 - h, i, j]"), rows));
  const auto scop = two_products();
  EXPECT_FALSE(is_possible(scop, {.first = 0, .loops = {{0, 1}}, .cut = 1, .size = 3})) << "one cluster";
  EXPECT_FALSE(is_possible(scop, {.first = 1, .loops = {{0, 1}, {0, 1}}, .cut = 1, .size = 3})) << "no such cluster";
  EXPECT_FALSE(is_possible(scop, {.first = 0, .loops = {{0, 2}, {0, 2}}, .cut = 1, .size = 3})) << "other ranges";
  EXPECT_FALSE(is_possible(scop, {.first = 0, .loops = {{1, 1}, {1, 1}}, .cut = 1, .size = 3})) << "one loop twice";
  EXPECT_FALSE(is_possible(scop, {.first = 0, .loops = {{0, 9}, {0, 9}}, .cut = 1, .size = 3})) << "no such member";
  EXPECT_FALSE(is_possible(scop, {.first = 0, .loops = {{0, 1}, {0, 1}}, .cut = 1, .size = 0}));
  const auto again = clustered(fuse_in_strips(scop, {rows}));
  EXPECT_FALSE(is_possible(again, {.first = 0, .loops = {{0}, {0}}, .cut = 0, .size = 1})) << "strips in strips";
}

TEST_F(FuseInStrips, TheNestOfAStripSaysSo) {
  const auto inner = clustered(fuse_in_strips(two_products(), {rows}));
  const auto& cluster = inner.clusters.at(0);
  const auto names = nest_names(inner.scop, cluster);
  EXPECT_EQ(names.around, (std::vector<std::string>{"h", "i_part"}));
  EXPECT_EQ(around_text(names), " inside of h on cores, i_part");
  const auto text = to_string(nest_of(inner.scop, cluster, ClusterMapping()), names);
  EXPECT_EQ(text.substr(0, text.find('\n')), "nest of I, S inside of h on cores, i_part");
  EXPECT_EQ(to_string(parse_nest(text, names), names), text);
  EXPECT_EQ(nest_sections(text).at(0).statements, (std::vector<std::string>{"I", "S"}));
  EXPECT_THROW(parse_nest("nest of I, S inside of i_part on cores", names), OptionsError);
  const auto plain = two_products();
  EXPECT_THROW(parse_nest(text, nest_names(plain.scop, plain.clusters.at(0))), OptionsError);
  EXPECT_THROW(check_mapping(inner, parse_mapping("parallel 0, members 2\nserial\nbuffers 0")), OptionsError);
}

TEST_F(FuseInStrips, ACutStatementCountsPartsAndPlaces) {
  const auto scop = two_products().scop;
  const auto cut = cut_statement(scop.statement("T"), 1, 3);
  EXPECT_EQ(cut.iterators, (std::vector<std::string>{"i_part", "h", "i", "c", "j"}));
  EXPECT_TRUE(
      cut.domain.is_equal(isl::set(ctx(),
                                   "{ T[p, h, i, c, j] : 0 <= p and 0 <= i < 3 and 3p + i < 7 and 0 <= h < 2 and "
                                   "0 <= c < 4 and 0 <= j < 5 }")));
  EXPECT_TRUE(isl::multi_aff(uncut(scop.statement("T"), 1, 3)).plain_is_equal(cut.origin));
}

}  // namespace
}  // namespace tc::polyhedral
