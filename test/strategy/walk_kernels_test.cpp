#include "tc/strategy/construct/walk_kernels.h"

#include <gtest/gtest.h>

#include <limits>

#include "tc/polyhedral/laws/verify.h"
#include "tc/polyhedral/map_grid/check_kernel_nest.h"
#include "tc/polyhedral/map_grid/map_to_grid.h"
#include "tc/polyhedral/nest/check_nest.h"
#include "tc/polyhedral/nest/nest_of_mapping.h"
#include "tc/polyhedral/nest/nest_text.h"
#include "tc/polyhedral/schedule/schedule.h"
#include "tc/strategy/construct/cheapest_grid_mapping.h"
#include "tc/strategy/construct/plain_kernels.h"
#include "tc/strategy/grid/choose_grid_mapping.h"
#include "test/support/scops.h"

namespace tc::strategy::walk_kernels_test {
namespace {

using polyhedral::Nest;
using polyhedral::Scop;

const Target target = Target::parse("cuda:sm_90");
constexpr ConstructionPolicy policies[] = {ConstructionPolicy::BestFirst, ConstructionPolicy::Roller,
                                           ConstructionPolicy::Gensor};

polyhedral::ClusteredScop scheduled(Scop scop) {
  scop.schedule = polyhedral::compute_schedule(scop, polyhedral::compute_dependences(scop), {});
  return polyhedral::clustered(scop);
}

std::vector<Scop> programs() {
  auto context = std::make_shared<polyhedral::Context>();
  return {polyhedral::scops::product(context, 96, 8, 64), polyhedral::scops::product(context, 1000, 600, 300),
          polyhedral::scops::row_sums(context, 509, 512), polyhedral::scops::softmax(context, 64, 300)};
}

TEST(WalkKernels, KeepTheLawsAndCostNoMoreThanTheirStart) {
  for (const auto& scop : programs()) {
    const auto all = scheduled(scop);
    const auto& cluster = all.clusters.at(0);
    const PricedCluster prices(all.scop, cluster, target);
    const auto start = nest_of(prices.nests, choose_grid_cluster(all.scop, cluster, *target.grid, {}));
    const auto names = polyhedral::nest_names(all.scop, cluster);
    const auto part = polyhedral::kernel_parts(all).at(0);
    for (const auto policy : policies) {
      const auto is_allowed = [&](const Nest& nest) {
        return is_realisable_kernel(all.scop, cluster, nest, *target.grid);
      };
      const auto found = walk_kernels(prices, {start}, {.policy = policy}, is_allowed).kernel;
      const auto shown = to_string(found.nest, names);
      EXPECT_LE(found.price.seconds, grid_price(prices, start).seconds) << shown;
      EXPECT_EQ(found.price.seconds, grid_price(prices, found.nest).seconds) << shown;
      EXPECT_EQ(found.nest, walk_kernels(prices, {start}, {.policy = policy}, is_allowed).kernel.nest) << shown;
      EXPECT_NO_THROW(check_nest(all.scop, cluster, names, found.nest)) << shown;
      EXPECT_NO_THROW(verify_kernel(map_kernel(part, prices.nests, found.nest, target.grid->warp_size))) << shown;
    }
  }
}

TEST(WalkKernels, StayWhereNothingIsAllowed) {
  const auto all = scheduled(programs().at(1));
  const PricedCluster prices(all.scop, all.clusters.at(0), target);
  const auto start = nest_of(prices.nests, choose_grid_cluster(all.scop, all.clusters.at(0), *target.grid, {}));
  for (const auto policy : policies)
    EXPECT_EQ(walk_kernels(prices, {start}, {.policy = policy}, [](const Nest&) { return false; }).kernel.nest, start);
}

TEST(WalkKernels, FindSomethingCheaperThanRules) {
  const auto all = scheduled(programs().at(1));
  const auto& cluster = all.clusters.at(0);
  const PricedCluster prices(all.scop, cluster, target);
  const auto start = nest_of(prices.nests, choose_grid_cluster(all.scop, cluster, *target.grid, {}));
  const auto walked = [&](const KernelWalk& walk) {
    return walk_kernels(prices, {start}, walk,
                        [&](const Nest& nest) { return is_realisable_kernel(all.scop, cluster, nest, *target.grid); })
        .kernel;
  };
  const auto before = grid_price(prices, start).seconds;
  EXPECT_LT(walked({.policy = ConstructionPolicy::BestFirst}).price.seconds, before);
  EXPECT_LT(walked({.policy = ConstructionPolicy::Gensor}).price.seconds, before);
}

/// From a warp with one value of each index for a thread, as the paper begins.
TEST(WalkKernels, BeginAtPlainKernels) {
  auto all_programs = programs();
  all_programs.erase(all_programs.begin() + 1);
  for (const auto& scop : all_programs) {
    const auto all = scheduled(scop);
    const auto& cluster = all.clusters.at(0);
    const PricedCluster prices(all.scop, cluster, target);
    const auto starts = plain_kernels(all.scop, cluster, prices, {});
    ASSERT_FALSE(starts.empty());
    const auto part = polyhedral::kernel_parts(all).at(0);
    const auto is_allowed = [&](const Nest& nest) {
      return is_realisable_kernel(all.scop, cluster, nest, *target.grid);
    };
    double least = std::numeric_limits<double>::infinity();
    for (const auto& start : starts) {
      const auto& block = start.launch->block;
      EXPECT_LE(block[0] * block[1] * block[2], target.grid->warp_size);
      EXPECT_NO_THROW(verify_kernel(map_kernel(part, prices.nests, start, target.grid->warp_size)));
      least = std::min(least, grid_price(prices, start).seconds);
    }
    for (const auto policy : policies) {
      const auto found = walk_kernels(prices, starts, {.policy = policy}, is_allowed);
      EXPECT_LE(found.kernel.price.seconds, least);
      EXPECT_EQ(found.path.back(), found.kernel.nest);
      EXPECT_NO_THROW(verify_kernel(map_kernel(part, prices.nests, found.kernel.nest, target.grid->warp_size)))
          << to_string(found.kernel.nest, polyhedral::nest_names(all.scop, cluster));
      const auto alone = cheapest_grid_cluster(all.scop, cluster, target, {}, {}, ConstructionSearch{policy, true});
      EXPECT_EQ(alone.nest, found.kernel.nest) << "what it finds is used, dearer than rules or not";
    }
  }
}

/// Without virtual threads, those of an index have neighbouring values.
TEST(WalkKernels, HaveNoVirtualThreadsWhereTheseAreForbidden) {
  const auto all = scheduled(programs().at(1));
  const auto& cluster = all.clusters.at(0);
  const PricedCluster prices(all.scop, cluster, target);
  const auto rounds = [&](bool virtual_threads) {
    const auto found =
        walk_kernels(prices, plain_kernels(all.scop, cluster, prices, {}),
                     {.policy = ConstructionPolicy::Roller, .virtual_threads = virtual_threads},
                     [&](const Nest& nest) { return is_realisable_kernel(all.scop, cluster, nest, *target.grid); });
    int result = 0;
    for (const auto& loop : found.kernel.nest.branches.back().loops)
      result += loop.digit.index.statement < 0 && loop.place != polyhedral::NestPlace::Thread && loop.digit.step > 1;
    return result;
  };
  EXPECT_EQ(rounds(false), 0);
  EXPECT_GT(rounds(true), 0);
}

TEST(WalkKernels, TheDefaultStaysUnlessATenthDearer) {
  for (const auto& scop : programs()) {
    const auto all = scheduled(scop);
    const auto chosen = cheapest_grid_cluster(all.scop, all.clusters.at(0), target, {}, {});
    for (const auto policy : policies) {
      const auto found =
          cheapest_grid_cluster(all.scop, all.clusters.at(0), target, {}, {}, ConstructionSearch{policy});
      EXPECT_LE(found.price.seconds, chosen.price.seconds);
      if (found.nest != chosen.nest) {
        EXPECT_LT(found.price.seconds, 0.9 * chosen.price.seconds);
      }
    }
  }
}

}  // namespace
}  // namespace tc::strategy::walk_kernels_test
