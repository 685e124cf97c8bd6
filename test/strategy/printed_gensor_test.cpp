#include "tc/strategy/construct/printed_gensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>

#include "tc/polyhedral/schedule/gather_coincident.h"
#include "tc/polyhedral/schedule/schedule.h"
#include "tc/strategy/construct/construct.h"
#include "test/support/isl_fixture.h"
#include "test/support/scop_builder.h"

namespace tc::strategy::printed {
namespace {

using polyhedral::Scop;
using polyhedral::ScopBuilder;

TEST(PrintedFormulas, HaveTheValuesOfThePaper) {
  EXPECT_DOUBLE_EQ(caching_benefit({400, 750}, {25, 12080}, 0), 16);
  EXPECT_NEAR(caching_benefit({400, 750}, {25, 12080}, 48 << 10), 16.0, 0.05);
  EXPECT_DOUBLE_EQ(virtual_thread_benefit(64, 32, 2), 2);
  EXPECT_DOUBLE_EQ(virtual_thread_benefit(32, 32, 2), 1);
  EXPECT_NEAR(caching_multiplier(0), 0.5, 1e-12);
  EXPECT_NEAR(caching_multiplier(10), 1.5, 1e-12);
  EXPECT_NEAR(caching_multiplier(20), 2.5, 1e-12);
  EXPECT_NEAR(caching_multiplier(1e3), 3, 1e-12);
}

TEST(PrintedFormulas, RecordEarlyStatesAndHardlyALateOne) {
  const std::map<int, double> of_steps{{0, 0.993}, {5, 0.963}, {10, 0.823}, {14, 0.537}, {20, 0.127}, {30, 0.005}};
  for (auto [steps, probability] : of_steps)
    EXPECT_NEAR(recording_probability(std::exp2(-steps)), probability, 6e-4) << steps;
}

class PrintedGensor : public polyhedral::IslTest {
 protected:
  const Target target_ = Target::parse("cpu:avx512,-amx,cores=2,l1=32k,l2=1m,l3=16m");
  const polyhedral::MappingOptions options_;
  polyhedral::ClusteredScop clustered_;

  MappingSpace space(Scop scop) {
    scop.schedule = polyhedral::compute_schedule(scop, polyhedral::compute_dependences(scop), options_);
    clustered_ = polyhedral::clustered(scop);
    return MappingSpace(clustered_.scop, clustered_.clusters.front(), target_, options_);
  }
  MappingSpace product(int n) {
    auto ij = str("0 <= i, j < ", n);
    return space(ScopBuilder(context())
                     .input("A", {n, n})
                     .input("B", {n, n})
                     .output("C", {n, n})
                     .identity(str("I[i, j] : ", ij), "C[i, j]")
                     .accumulate(str("U[i, j, k] : ", ij, " and 0 <= k < ", n), "C[i, j]", {"A[i, k]", "B[k, j]"})
                     .scop());
  }
};

TEST_F(PrintedGensor, BenefitsOfTilesHaveTheValuesOfThePaper) {
  auto all = product(1024);
  auto before = tile_traffic(all.priced(), {64, 64, 8}), after = tile_traffic(all.priced(), {128, 64, 8});
  EXPECT_EQ(before.moved, 34603008);
  EXPECT_EQ(before.kept, 1024);
  EXPECT_EQ(after.moved, 26214400);
  EXPECT_EQ(after.kept, 1536);
  EXPECT_NEAR(tiling_benefit(before, after), 1.98, 5e-3);
}

TEST_F(PrintedGensor, WindowsAreOneDimension) {
  auto all = space(
      ScopBuilder(context())
          .input("A", {4, 34})
          .input("K", {3})
          .output("C", {4, 32})
          .identity("I[c, w] : 0 <= c < 4 and 0 <= w < 32", "C[c, w]")
          .accumulate("U[c, w, k] : 0 <= c < 4 and 0 <= w < 32 and 0 <= k < 3", "C[c, w]", {"A[c, w + k]", "K[k]"})
          .scop());
  EXPECT_EQ(tile_traffic(all.priced(), {2, 8, 3}).kept, 2 * 10 + 3);
}

/// Benefits are ratios of a potential F / Q, so that a chain within a level is a random walk on a graph with weights, of
/// which the law is known: pi(i) ~ phi(i) * sum of phi of the neighbours.
TEST_F(PrintedGensor, ChainsWithinALevelKeepTheirStationaryLaw) {
  constexpr double capacity = 12288;
  constexpr int steps = 400'000;
  auto all = product(1024);
  const auto& statement = all.priced();
  auto potential = [&](const Sizes& sizes) {
    auto traffic = tile_traffic(statement, sizes);
    return traffic.kept / traffic.moved;
  };
  std::map<Sizes, double> law;
  std::vector<Sizes> open{{1, 1, 1}};
  while (!open.empty()) {
    auto sizes = open.back();
    open.pop_back();
    if (law.count(sizes)) continue;
    double around = 0;
    for (auto& next : neighbours(statement, sizes, capacity)) {
      around += potential(next);
      open.push_back(std::move(next));
    }
    law[sizes] = potential(sizes) * around;
  }
  ASSERT_EQ(law.size(), 847u);
  auto sum = std::accumulate(law.begin(), law.end(), 0.0, [](double all, const auto& one) { return all + one.second; });
  std::mt19937_64 random(1);
  std::map<Sizes, int> visits;
  Sizes at{1, 1, 1};
  for (int i = 0; i < steps; ++i) ++visits[at = step(statement, at, capacity, true, random)];
  double distance = 0;
  for (const auto& [sizes, weight] : law) distance += std::abs(weight / sum - visits[sizes] / double(steps)) / 2;
  EXPECT_LE(distance, 0.02);
}

TEST_F(PrintedGensor, ChainsHaveAPeriodOfTwoUnlessTheyAreLazy) {
  auto all = product(1024);
  std::mt19937_64 random(1);
  Sizes at{1, 1, 1};
  auto parity = [](const Sizes& sizes) {
    return static_cast<int>(std::log2(sizes[0]) + std::log2(sizes[1]) + std::log2(sizes[2])) % 2;
  };
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(parity(at), i % 2);
    at = step(all.priced(), at, 12288, false, random);
  }
}

struct Fills {
  double median_filled = 0;
  int median_steps = 0;
};

Fills fills(const MappingSpace& space, bool gate) {
  constexpr int chains = 101;
  std::vector<double> filled;
  std::vector<int> steps;
  for (unsigned seed = 0; seed < chains; ++seed) {
    std::mt19937_64 random(seed);
    auto chain = run_chain(space, gate, random);
    for (const auto& sizes : chain.in_caches)
      EXPECT_LE(tile_traffic(space.priced(), sizes).kept, 1 << 18) << "beyond the second cache";
    filled.push_back(chain.filled);
    steps.push_back(chain.cache_steps);
  }
  std::sort(filled.begin(), filled.end());
  std::sort(steps.begin(), steps.end());
  return {filled[chains / 2], steps[chains / 2]};
}

TEST_F(PrintedGensor, GoesOnToRegistersAtOnceUnlessAGateKeepsIt) {
  auto all = product(1024);
  auto printed = fills(all, false), gated = fills(all, true);
  EXPECT_LE(printed.median_steps, 3);
  EXPECT_LE(printed.median_filled, 0.001);
  EXPECT_GE(gated.median_filled, 0.5);
}

TEST_F(PrintedGensor, FindsMappingsThatCostMoreThanThoseOfPrices) {
  auto all = product(256);
  std::vector<double> printed;
  for (unsigned seed = 1; seed <= 21; ++seed)
    printed.push_back(construct(all, ConstructionPolicy::GensorPrinted, 1 << 18, seed).price.seconds);
  std::sort(printed.begin(), printed.end());
  EXPECT_GT(printed[10], 1.5 * construct(all, ConstructionPolicy::Gensor, 1 << 18).price.seconds);
}

}  // namespace
}  // namespace tc::strategy::printed
