#include "tc/strategy/construct/mapping_state.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tc/polyhedral/laws/verify.h"
#include "tc/polyhedral/map_cpu/check_mapping.h"
#include "tc/polyhedral/map_cpu/map_to_cpu.h"
#include "tc/polyhedral/schedule/schedule.h"
#include "tc/strategy/construct/mapping_moves.h"
#include "tc/strategy/cpu/choose_mapping.h"
#include "test/support/from_environment.h"
#include "test/support/isl_fixture.h"
#include "test/support/random/random_scop.h"
#include "test/support/scop_builder.h"
#include "test/support/simulate.h"

namespace tc::strategy {
namespace {

using polyhedral::MappingOptions;
using polyhedral::Scop;
using polyhedral::ScopBuilder;

/// Whatever state is drawn or walked to, its mapping is one of the program's, keeps all laws and computes the same.
TEST(MappingStates, AreMappingsOfTheProgram) {
  auto target = Target::parse("cpu:avx512,-amx,cores=2,l1=32k,l2=1m,l3=16m");
  int packed = 0, cut = 0, unrolled = 0;
  for (unsigned seed : test::seeds_of_scops()) {
    std::mt19937_64 random(seed);
    auto scop = polyhedral::random_scop(std::make_shared<polyhedral::Context>(), seed, seed % 4 == 3 ? 9 : 5);
    auto dependences = polyhedral::compute_dependences(scop);
    MappingOptions options;
    auto ordered = scop;
    ordered.schedule = polyhedral::compute_schedule(scop, dependences, options);
    auto scheduled = polyhedral::clustered(ordered);
    auto mapping = choose_mapping(scheduled, target, options);
    for (std::size_t i = 0; i < scheduled.clusters.size(); ++i) {
      if (scheduled.clusters[i].statements.empty()) continue;
      MappingSpace space(scheduled.scop, scheduled.clusters[i], target, options);
      auto near = state_of(space, mapping.clusters[i]);
      auto state =
          seed % 2 == 0 && is_possible(space, near) ? random_walk(space, near, 4, random) : random_state(space, random);
      ASSERT_TRUE(is_possible(space, state));
      mapping.clusters[i] = mapping_of(space, state);
      packed += !mapping.clusters[i].packed.empty();
      cut += mapping.clusters[i].reduction.iterator >= 0;
      unrolled += mapping.clusters[i].register_tile;
    }
    auto shown = str("seed ", seed, "\n", to_string(mapping));
    ASSERT_NO_THROW(polyhedral::check_mapping(scheduled, mapping)) << shown;
    ASSERT_EQ(polyhedral::parse_mapping(to_string(mapping)), mapping) << shown;
    Scop mapped;
    ASSERT_NO_THROW(mapped = polyhedral::map_to_cpu(scheduled, mapping)) << shown;
    ASSERT_NO_THROW(polyhedral::verify(mapped, dependences)) << shown;
    ASSERT_EQ(polyhedral::simulate(mapped), polyhedral::simulate(scop)) << shown << print_block(mapped.schedule);
  }
  EXPECT_GT(unrolled, 5);
}

class MappingStateTest : public polyhedral::IslTest {
 protected:
  const Target target_ = Target::parse("cpu:avx512,-amx,cores=2,l1=32k,l2=1m,l3=16m");
  MappingOptions options_;
  polyhedral::ClusteredScop clustered_;

  MappingSpace product(int n) {
    auto ij = str("0 <= i, j < ", n);
    auto scop = ScopBuilder(context())
                    .input("A", {n, n})
                    .input("B", {n, n})
                    .output("C", {n, n})
                    .identity(str("I[i, j] : ", ij), "C[i, j]")
                    .accumulate(str("U[i, j, k] : ", ij, " and 0 <= k < ", n), "C[i, j]", {"A[i, k]", "B[k, j]"})
                    .scop();
    scop.schedule = polyhedral::compute_schedule(scop, polyhedral::compute_dependences(scop), options_);
    clustered_ = polyhedral::clustered(scop);
    return MappingSpace(clustered_.scop, clustered_.clusters.front(), target_, options_);
  }
};

TEST_F(MappingStateTest, SaysWhatTheRulesChoose) {
  for (int n : {40, 256, 1000}) {
    auto space = product(n);
    auto rules = choose_cluster_mapping(clustered_.scop, clustered_.clusters.front(), target_, options_);
    auto state = state_of(space, rules);
    EXPECT_TRUE(is_possible(space, state)) << to_string(rules);
    EXPECT_EQ(to_string(mapping_of(space, state)), to_string(rules)) << n;
    EXPECT_TRUE(state_of(space, mapping_of(space, state)) == state);
  }
}

TEST_F(MappingStateTest, RefusesWhatRegistersAndCachesHaveNoRoomFor) {
  auto space = product(256);
  auto state = plain_state(space);
  EXPECT_TRUE(is_possible(space, state));
  state.lanes = 1;
  state.unrolled = true;
  state.tile = {8, 3};
  EXPECT_TRUE(is_possible(space, state));
  state.tile = {8, 4};
  EXPECT_FALSE(is_possible(space, state)) << "32 accumulators in 32 registers";
  state.tile = {257, 1};
  EXPECT_FALSE(is_possible(space, state));
  state.tile = {8, 3};
  state.block = {12, 0};
  EXPECT_FALSE(is_possible(space, state)) << "a block is of whole tiles";
  state.block = {16, 0};
  EXPECT_TRUE(is_possible(space, state));
  state.unrolled = false;
  state.reduction = 64;
  EXPECT_FALSE(is_possible(space, state)) << "only a register tile's reduction is cut";
}

TEST_F(MappingStateTest, MovesAreTakenBackByMoves) {
  auto space = product(256);
  std::mt19937_64 random(3);
  for (int i = 0; i < 20; ++i) {
    auto state = random_state(space, random);
    for (const auto& next : moves(space, state)) {
      EXPECT_TRUE(is_possible(space, next));
      EXPECT_FALSE(next == state);
    }
  }
  auto start = plain_state(space);
  start.lanes = 1;
  for (const auto& next : moves(space, start)) {
    auto back = moves(space, next);
    EXPECT_TRUE(next.lanes != start.lanes || std::find(back.begin(), back.end(), start) != back.end())
        << to_string(mapping_of(space, next));
  }
}

}  // namespace
}  // namespace tc::strategy
