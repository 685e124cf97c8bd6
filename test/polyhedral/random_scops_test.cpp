#include <gtest/gtest.h>

#include <random>

#include "tc/base/error.h"
#include "tc/options/mapping_options.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/laws/verify.h"
#include "tc/polyhedral/map/fuse_in_parts.h"
#include "tc/polyhedral/map/fuse_in_strips.h"
#include "tc/polyhedral/map_cpu/map_to_cpu.h"
#include "tc/polyhedral/schedule/schedule.h"
#include "test/support/from_environment.h"
#include "test/support/isl_fixture.h"
#include "test/support/random/random_scop.h"
#include "test/support/simulate.h"

namespace tc::polyhedral {
namespace {

TEST(RandomScops, SchedulesKeepAllLawsAndCompute) {
  for (unsigned seed : test::seeds_of_scops()) {
    auto scop = random_scop(std::make_shared<Context>(), seed);
    auto dependences = compute_dependences(scop);
    auto want = simulate(scop);
    for (const char* options :
         {"", "fusion=max", "fusion=min", "fusion=max,positive_orthant=0,allow_skewing=1", "quota=3000"}) {
      auto scheduled = scop;
      scheduled.schedule = compute_schedule(scop, dependences, options::MappingOptions::parse(options).values());
      ASSERT_NO_THROW(verify(scheduled, dependences)) << "seed " << seed << " options '" << options << "'";
      ASSERT_EQ(simulate(scheduled), want) << "seed " << seed << " options '" << options << "'\n"
                                           << print_block(scheduled.schedule);
    }
  }
}

/// A random order of statements and iterators: whatever the laws accept must compute the same.
isl::schedule random_schedule(const Scop& scop, unsigned seed) {
  std::mt19937 random(seed);
  auto shuffled = scop;
  for (std::size_t i = 1; i < shuffled.statements.size(); ++i)
    if (random() % 3 == 0) std::swap(shuffled.statements[i - 1], shuffled.statements[i]);
  auto schedule = program_order(shuffled);
  return schedule.root()
      .map_descendant_bottom_up([&](isl::schedule_node node) -> isl::schedule_node {
        if (!node.isa<isl::schedule_node_band>() || random() % 2 == 0) return node;
        auto members = node.as<isl::schedule_node_band>().partial_schedule();
        auto changed = members;
        for (unsigned i = 0; i < members.size(); ++i)
          changed = changed.set_at(static_cast<int>(i), members.at(static_cast<int>(members.size() - 1 - i)));
        if (random() % 3 == 0) changed = changed.neg();
        return erase(node).insert_partial_schedule(changed);
      })
      .schedule();
}

TEST(RandomScops, WhatTheLawsAcceptComputesTheSame) {
  int accepted = 0, rejected = 0;
  for (unsigned seed : test::seeds_of_scops(3)) {
    auto scop = random_scop(std::make_shared<Context>(), seed);
    auto dependences = compute_dependences(scop);
    auto scheduled = scop;
    scheduled.schedule = random_schedule(scop, seed);
    bool legal = true;
    try {
      verify(scheduled, dependences);
    } catch (const InternalError&) {
      legal = false;
    }
    (legal ? accepted : rejected) += 1;
    if (!legal) continue;
    ASSERT_EQ(simulate(scheduled), simulate(scop)) << "seed " << seed << "\n" << print_block(scheduled.schedule);
  }
  EXPECT_GT(accepted, 10);
  EXPECT_GT(rejected, 10);
}

/// All ways to fuse one reduction of \p scop, scheduled, with another cluster in parts of \p size.
std::vector<FusedParts> fusions_in_parts(const Scop& scop, const Dependences& dependences, std::int64_t size) {
  std::vector<FusedParts> result;
  const auto views = cluster_views(scop);
  for (std::size_t cluster = 0; cluster < views.size(); ++cluster)
    for (std::size_t member = 0; member < views[cluster].members.size(); ++member)
      for (const auto& statement : scop.statements)
        for (int iterator = 0; iterator < dimensions(statement.domain); ++iterator) {
          FusedParts parts{cluster, static_cast<int>(member), size, {{statement.id, iterator}}};
          if (can_fuse_in_parts(scop, dependences, parts)) result.push_back(parts);
        }
  return result;
}

TEST(RandomScops, ReductionsInPartsOfOtherClustersComputeTheSame) {
  int fused = 0;
  for (unsigned seed : test::seeds_of_scops(3)) {
    auto scop = random_scop(std::make_shared<Context>(), seed);
    auto dependences = compute_dependences(scop);
    scop.schedule = compute_schedule(scop, dependences, {});
    for (const auto& parts : fusions_in_parts(scop, dependences, 1 + seed % 3)) {
      auto result = fuse_in_parts(scop, parts, {});
      ASSERT_NO_THROW(verify(result, compute_dependences(result))) << "seed " << seed;
      ASSERT_EQ(simulate(result), simulate(scop)) << "seed " << seed << "\n" << print_block(result.schedule);
      ++fused;
    }
  }
  EXPECT_GT(fused, 5);
}

/// All ways to run two neighbouring clusters of \p scop in strips of \p size along one loop.
std::vector<Strips> strips_of_pairs(const ClusteredScop& scop, const Dependences& dependences, std::int64_t size) {
  std::vector<Strips> result;
  for (std::size_t first = 0; first + 1 < scop.clusters.size(); ++first)
    for (int i = 0; i < static_cast<int>(scop.clusters[first].members.size()); ++i)
      for (int j = 0; j < static_cast<int>(scop.clusters[first + 1].members.size()); ++j) {
        const Strips strips{.first = first, .loops = {{i}, {j}}, .cut = 0, .size = size};
        if (can_fuse_in_strips(scop, dependences, strips)) result.push_back(strips);
      }
  return result;
}

TEST(RandomScops, ClustersInStripsComputeTheSame) {
  int fused = 0;
  for (unsigned seed : test::seeds_of_scops(3)) {
    auto scop = random_scop(std::make_shared<Context>(), seed);
    const auto dependences = compute_dependences(scop);
    scop.schedule = compute_schedule(scop, dependences, {.fusion = FusionStrategy::Min});
    const auto clusters = clustered(scop);
    for (const auto& strips : strips_of_pairs(clusters, dependences, 1 + seed % 3)) {
      auto result = fuse_in_strips(clusters, {strips});
      const auto again = compute_dependences(result);
      ASSERT_NO_THROW(verify(result, again)) << "seed " << seed;
      ASSERT_EQ(simulate(result), simulate(scop)) << "seed " << seed << "\n" << print_block(result.schedule);
      const auto inner = clustered(result);
      result = map_to_cpu(inner, {.clusters = std::vector<ClusterMapping>(inner.clusters.size())});
      ASSERT_NO_THROW(verify(result, again)) << "seed " << seed;
      ASSERT_EQ(simulate(result), simulate(scop)) << "seed " << seed << "\n" << print_block(result.schedule);
      ++fused;
    }
  }
  EXPECT_GT(fused, 5);
}

}  // namespace
}  // namespace tc::polyhedral
