#include "tc/strategy/construct/construct.h"

#include <gtest/gtest.h>

#include <array>

#include "tc/polyhedral/laws/verify.h"
#include "tc/polyhedral/map_cpu/check_mapping.h"
#include "tc/polyhedral/map_cpu/map_to_cpu.h"
#include "tc/polyhedral/schedule/schedule.h"
#include "tc/strategy/construct/mapping_moves.h"
#include "tc/strategy/cpu/choose_mapping.h"
#include "test/support/isl_fixture.h"
#include "test/support/scop_builder.h"
#include "test/support/simulate.h"

namespace tc::strategy {
namespace {

using polyhedral::Scop;
using polyhedral::ScopBuilder;

class ConstructTest : public polyhedral::IslTest {
 protected:
  const Target target_ = Target::parse("cpu:avx512,-amx,cores=2,l1=32k,l2=1m,l3=16m");
  const polyhedral::MappingOptions options_;
  Scop scop_;
  polyhedral::ClusteredScop clustered_;

  MappingSpace space(Scop scop) { return space(std::move(scop), target_); }
  MappingSpace space(Scop scop, const Target& target) {
    scop_ = scop;
    scop.schedule = polyhedral::compute_schedule(scop, polyhedral::compute_dependences(scop), options_);
    clustered_ = polyhedral::clustered(scop);
    return MappingSpace(clustered_.scop, clustered_.clusters.front(), target, options_);
  }
  Scop product(int m, int n, int k, bool transposed = false) const {
    auto ij = str("0 <= i < ", m, " and 0 <= j < ", n);
    return ScopBuilder(context())
        .input("A", {m, k})
        .input("B", {transposed ? n : k, transposed ? k : n})
        .output("C", {m, n})
        .identity(str("I[i, j] : ", ij), "C[i, j]")
        .accumulate(str("U[i, j, k] : ", ij, " and 0 <= k < ", k), "C[i, j]",
                    {"A[i, k]", transposed ? "B[j, k]" : "B[k, j]"})
        .scop();
  }
  Scop transposition(int n) const {
    return ScopBuilder(context())
        .input("A", {n, n})
        .output("C", {n, n})
        .statement(str("S[i, j] : 0 <= i, j < ", n), "C[i, j]", {"A[j, i]"})
        .scop();
  }
  double seconds(const MappingSpace& space, const polyhedral::ClusterMapping& mapping) const {
    return price(space.prices, mapping, buffer_bytes(target_, options_)).seconds;
  }
};

class EachPolicy : public ConstructTest, public testing::WithParamInterface<ConstructionPolicy> {};

TEST_P(EachPolicy, IsLegalAndComputesTheSame) {
  for (auto scop : {product(19, 37, 23), product(5, 33, 40, true), transposition(37)}) {
    auto all = space(scop);
    auto made = construct(all, GetParam(), buffer_bytes(target_, options_));
    polyhedral::Mapping mapping{{made.mapping}, buffer_bytes(target_, options_)};
    ASSERT_NO_THROW(polyhedral::check_mapping(clustered_, mapping)) << to_string(mapping);
    auto mapped = polyhedral::map_to_cpu(clustered_, mapping);
    ASSERT_NO_THROW(polyhedral::verify(mapped, polyhedral::compute_dependences(scop))) << to_string(mapping);
    EXPECT_EQ(polyhedral::simulate(mapped), polyhedral::simulate(scop)) << to_string(mapping);
  }
}

TEST_P(EachPolicy, FindsTheSameForTheSameSeed) {
  auto all = space(product(256, 256, 256));
  auto once = construct(all, GetParam(), 1 << 18, 7), again = construct(all, GetParam(), 1 << 18, 7);
  EXPECT_EQ(once.mapping, again.mapping);
  EXPECT_EQ(once.price.seconds, seconds(all, once.mapping));
  EXPECT_TRUE(once.states > 20 || GetParam() == ConstructionPolicy::GensorPrinted) << once.states;
}

TEST_P(EachPolicy, TilesProductsInRegisters) {
  auto all = space(product(256, 256, 256));
  auto made = construct(all, GetParam(), 1 << 18);
  EXPECT_TRUE(made.mapping.register_tile) << to_string(made.mapping);
  EXPECT_LT(made.price.seconds, 0.3 * seconds(all, mapping_of(all, plain_state(all))));
}

INSTANTIATE_TEST_SUITE_P(Policies, EachPolicy,
                         testing::Values(ConstructionPolicy::BestFirst, ConstructionPolicy::Descent,
                                         ConstructionPolicy::Roller, ConstructionPolicy::Gensor,
                                         ConstructionPolicy::GensorPrinted));

TEST_F(ConstructTest, NoMoveFromTheBestIsCheaperAsFarAsPricesTell) {
  for (auto scop : {product(256, 256, 256), product(4, 512, 512, true), transposition(512)}) {
    auto all = space(scop);
    for (auto policy : {ConstructionPolicy::BestFirst, ConstructionPolicy::Gensor}) {
      auto made = construct(all, policy, 1 << 18);
      for (const auto& next : moves(all, state_of(all, made.mapping)))
        EXPECT_GE(seconds(all, mapping_of(all, next)), (1 - least_difference) * made.price.seconds)
            << to_string(mapping_of(all, next));
    }
  }
}

TEST_F(ConstructTest, WhatIsFoundIsNoDearerThanWhereItBegins) {
  auto all = space(product(4, 512, 512, true));
  const auto best = construct(all, ConstructionPolicy::BestFirst, 1 << 18);
  const auto alone = construct(all, ConstructionPolicy::Roller, 1 << 18);
  ASSERT_GT(alone.price.seconds, best.price.seconds * (1 + 2 * least_difference)) << "nothing is to be gained here";
  const auto state = state_of(all, best.mapping);
  const auto there = construct(all, ConstructionPolicy::Roller, 1 << 18, 1, {state});
  EXPECT_LE(there.price.seconds, seconds(all, mapping_of(all, state)) * (1 + 2 * least_difference));
}

/// Rows of a row of lanes and a half: rules run along them, the price along as many rows as there are lanes.
TEST_F(ConstructTest, WhatRulesChooseStaysUnlessThePriceIsClearlyLess) {
  auto rows = [&](int count) {
    return ScopBuilder(context())
        .input("X", {count, 7, 7})
        .output("s", {count})
        .identity(str("I[i] : 0 <= i < ", count), "s[i]")
        .accumulate(str("U[i, h, w] : 0 <= i < ", count, " and 0 <= h, w < 7"), "s[i]", {"X[i, h, w]"})
        .scop();
  };
  auto found = [&](ConstructionPolicy policy) {
    return construct_cluster_mapping(clustered_.scop, clustered_.clusters.front(), target_, options_, {policy});
  };
  auto rules = [&] { return choose_cluster_mapping(clustered_.scop, clustered_.clusters.front(), target_, options_); };
  for (auto policy : {ConstructionPolicy::Descent, ConstructionPolicy::BestFirst, ConstructionPolicy::Roller}) {
    auto all = space(rows(8192));
    EXPECT_LT(seconds(all, found(policy)), 0.75 * seconds(all, rules())) << to_string(found(policy));
    space(product(256, 256, 256));
    EXPECT_EQ(to_string(found(policy)), to_string(rules()));
  }
  for (auto policy : {ConstructionPolicy::BestFirst, ConstructionPolicy::Roller, ConstructionPolicy::Gensor}) {
    auto all = space(product(256, 256, 256));
    const auto alone =
        construct_cluster_mapping(clustered_.scop, clustered_.clusters.front(), target_, options_, {policy, true});
    EXPECT_EQ(alone, construct(all, policy, buffer_bytes(target_, options_)).mapping);
    EXPECT_NE(alone, rules()) << "what it finds is used, dearer or not";
  }
  space(rows(1024));
  EXPECT_EQ(found(ConstructionPolicy::Descent), rules()) << "too little work for a search";
  EXPECT_NE(found(ConstructionPolicy::BestFirst), rules());
}

/// By counting alone: tasks, and cores that are busy, on machines that are not here.
TEST_F(ConstructTest, FillsTheCoresThereAre) {
  const std::array<Scop, 4> programs{product(65536, 1024, 4), product(1, 4096, 1024, true), product(509, 509, 127),
                                     transposition(1021)};
  for (const char* kind : {"plain", "avx2", "avx512,-amx"})
    for (const auto& program : programs) {
      double before = 0;
      for (int cores : {1, 16, 64}) {
        const auto target = Target::parse(str("cpu:", kind, ",cores=", cores, ",l1=32k,l2=1m,l3=16m"));
        const auto made = construct(space(program, target), ConstructionPolicy::BestFirst, 1 << 18);
        const auto& price = made.price;
        EXPECT_GE(price.busy, 0.95 * cores) << to_string(made.mapping);
        EXPECT_TRUE(before == 0 || price.seconds <= before) << kind << " " << cores;
        before = price.seconds;
      }
    }
}

TEST_F(ConstructTest, IsAboutAsCheapAsTheRules) {
  for (auto scop : {product(256, 256, 256), product(512, 512, 512), product(4, 512, 512, true), transposition(512)}) {
    auto all = space(scop);
    auto rules = choose_cluster_mapping(clustered_.scop, clustered_.clusters.front(), target_, options_);
    EXPECT_LE(construct(all, ConstructionPolicy::BestFirst, 1 << 18).price.seconds, 1.03 * seconds(all, rules))
        << to_string(rules);
  }
}

}  // namespace
}  // namespace tc::strategy
