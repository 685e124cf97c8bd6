#include "tc/strategy/construct/cheapest_grid_mapping.h"

#include <gtest/gtest.h>

#include "tc/polyhedral/schedule/schedule.h"
#include "tc/strategy/grid/choose_grid_mapping.h"
#include "tc/strategy/grid/grid_candidates.h"
#include "tc/strategy/grid_price/grid_price.h"
#include "test/support/isl_fixture.h"
#include "test/support/scops.h"

namespace tc::strategy {
namespace {

using polyhedral::GridClusterMapping;
using polyhedral::MappingOptions;
using polyhedral::Scop;
using polyhedral::ScopBuilder;

class CheapestGridMapping : public polyhedral::IslTest {
 protected:
  Scop row_sums(int n, int m) const { return scheduled(polyhedral::scops::row_sums(context(), n, m)); }
  Scop product(int m, int n, int k) const { return scheduled(polyhedral::scops::product(context(), m, n, k)); }
  /// O[c, h, w] = A[c, h] of c planes.
  Scop planes(int c, int h, int w) const {
    return scheduled(ScopBuilder(context())
                         .input("A", {c, h})
                         .output("O", {c, h, w})
                         .statement(str("S[c, h, w] : 0 <= c < ", c, " and 0 <= h < ", h, " and 0 <= w < ", w),
                                    "O[c, h, w]", {"A[c, h]"})
                         .scop());
  }

  GridClusterMapping chosen(const Scop& scop, const MappingOptions& options = {}) const {
    return cheapest_grid_mapping(polyhedral::clustered(scop), target, options, bodies).at(0).mapping;
  }
  GridClusterMapping rules(const Scop& scop, const MappingOptions& options = {}) const {
    return choose_grid_mapping(polyhedral::clustered(scop), *target.grid, options).clusters.at(0);
  }
  GridPrice price(const Scop& scop, const GridClusterMapping& mapping) const {
    auto all = polyhedral::clustered(scop);
    return grid_price({all.scop, all.clusters.front(), target, bodies}, mapping);
  }

  const Target target = Target::parse("cuda:sm_90");
  const OperationsOfBodies bodies = {{"U", {.simple = 1}}};

 private:
  static Scop scheduled(Scop scop) {
    scop.schedule = polyhedral::compute_schedule(scop, polyhedral::compute_dependences(scop), {});
    return scop;
  }
};

TEST_F(CheapestGridMapping, NothingThatIsPossibleIsCheaperByATenth) {
  for (const auto& scop : {product(1024, 1024, 1024), product(1000, 600, 300), row_sums(8192, 4096),
                           row_sums(100000, 48), planes(512, 200, 96)}) {
    auto best = price(scop, chosen(scop)).seconds;
    EXPECT_LE(best, price(scop, rules(scop)).seconds);
    auto all = polyhedral::clustered(scop);
    for (const auto& mapping : grid_candidates(all.scop, all.clusters.front(), *target.grid, {}))
      EXPECT_GE(price(scop, mapping).seconds, 0.9 * best) << to_string(mapping);
  }
}

TEST_F(CheapestGridMapping, CandidatesDiffer) {
  auto all = polyhedral::clustered(row_sums(100000, 48));
  auto candidates = grid_candidates(all.scop, all.clusters.front(), *target.grid, {});
  std::set<std::string> texts;
  for (const auto& mapping : candidates) texts.insert(to_string(mapping));
  EXPECT_EQ(texts.size(), candidates.size());
  EXPECT_GT(candidates.size(), 20u);
}

TEST_F(CheapestGridMapping, ABlockHasSeveralShortRows) {
  auto mapping = chosen(row_sums(100000, 48));
  EXPECT_EQ(mapping.block[0], 32);
  EXPECT_GT(mapping.block[1], 1);
  EXPECT_EQ(mapping.members.at(0).tile, mapping.block[1]);
}

TEST_F(CheapestGridMapping, BlocksThatBeginSlowlyAreFew) {
  auto scop = planes(1024, 112, 113);
  EXPECT_GT(price(scop, rules(scop)).shape.blocks(), 100000);
  EXPECT_LT(price(scop, chosen(scop)).shape.blocks(), 40000);
}

TEST_F(CheapestGridMapping, RulesKeepWhatOptionsNameAndWhatIsSmall) {
  auto scop = row_sums(100000, 48);
  MappingOptions options;
  options.block = {64, 2};
  EXPECT_EQ(chosen(scop, options), rules(scop, options));
  EXPECT_NE(chosen(scop), rules(scop));
  auto small = row_sums(100, 48);
  EXPECT_EQ(chosen(small), rules(small));
}

TEST_F(CheapestGridMapping, HalfTheBlocksGoRound) {
  GridClusterMapping mapping;
  mapping.grid = {7, 100, 3};
  EXPECT_EQ(with_half_the_blocks(mapping).grid, (std::array<std::int64_t, 3>{7, 50, 3}));
}

}  // namespace
}  // namespace tc::strategy
