#include "tc/strategy/cpu/choose_fusion.h"

#include <gtest/gtest.h>

#include "tc/polyhedral/schedule/schedule.h"
#include "test/support/isl_fixture.h"
#include "test/support/scop_builder.h"

namespace tc::strategy {
namespace {

using polyhedral::Scop;
using polyhedral::ScopBuilder;

class ChooseFusionTest : public polyhedral::IslTest {
 protected:
  const Target target_ = Target::parse("cpu:avx512,-amx,cores=2,l1=32k,l2=1m,l3=16m");

  /// Statements of each cluster of the schedule that the criterion leads to, then of the one without it.
  std::pair<std::vector<std::size_t>, std::vector<std::size_t>> clusters(const Scop& scop) const {
    auto dependences = polyhedral::compute_dependences(scop);
    ChooseFusion criterion(scop, target_, {});
    return {sizes(scop, polyhedral::compute_schedule(scop, dependences, {}, &criterion)),
            sizes(scop, polyhedral::compute_schedule(scop, dependences, {}))};
  }
  static std::vector<std::size_t> sizes(Scop scop, const isl::schedule& schedule) {
    scop.schedule = schedule;
    std::vector<std::size_t> result;
    for (const auto& cluster : polyhedral::cluster_views(scop)) result.push_back(cluster.statements.size());
    return result;
  }
};

using Sizes = std::vector<std::size_t>;

TEST_F(ChooseFusionTest, ProductsThatShareAFactorStayApart) {
  auto scop = ScopBuilder(context())
                  .input("X", {512, 512})
                  .input("A", {512, 512})
                  .input("B", {512, 512})
                  .output("P", {512, 512})
                  .output("Q", {512, 512})
                  .identity("I[n, o] : 0 <= n, o < 512", "P[n, o]")
                  .accumulate("S[n, o, k] : 0 <= n, o, k < 512", "P[n, o]", {"X[n, k]", "A[o, k]"})
                  .identity("J[n, o] : 0 <= n, o < 512", "Q[n, o]")
                  .accumulate("T[n, o, k] : 0 <= n, o, k < 512", "Q[n, o]", {"X[n, k]", "B[o, k]"})
                  .scop();
  auto [priced, unpriced] = clusters(scop);
  EXPECT_EQ(priced, Sizes({2, 2}));
  EXPECT_EQ(unpriced, Sizes({4})) << "the criterion decides nothing here";
}

TEST_F(ChooseFusionTest, PartsOfOneTensorStayApart) {
  auto scop = ScopBuilder(context())
                  .input("X", {512, 64})
                  .input("A", {512, 64})
                  .output("P", {512, 1024})
                  .identity("I[n, o] : 0 <= n, o < 512", "P[n, 2o]")
                  .accumulate("S[n, o, k] : 0 <= n, o < 512 and 0 <= k < 64", "P[n, 2o]", {"X[n, k]", "A[o, k]"})
                  .identity("J[n, o] : 0 <= n, o < 512", "P[n, 2o + 1]")
                  .accumulate("T[n, o, k] : 0 <= n, o < 512 and 0 <= k < 8", "P[n, 2o + 1]", {"X[n, k]", "A[o, k]"})
                  .scop();
  auto [priced, unpriced] = clusters(scop);
  EXPECT_EQ(priced, Sizes({2, 2}));
  EXPECT_EQ(unpriced, Sizes({4})) << "the criterion decides nothing here";
}

TEST_F(ChooseFusionTest, SumsOfOneTensorReadItOnce) {
  auto scop = ScopBuilder(context())
                  .input("X", {2048, 4096})
                  .output("s", {2048})
                  .output("q", {2048})
                  .identity("I[n] : 0 <= n < 2048", "s[n]")
                  .accumulate("S[n, k] : 0 <= n < 2048 and 0 <= k < 4096", "s[n]", {"X[n, k]"})
                  .identity("J[n] : 0 <= n < 2048", "q[n]")
                  .accumulate("T[n, k] : 0 <= n < 2048 and 0 <= k < 4096", "q[n]", {"X[n, k]", "X[n, k]"})
                  .scop();
  EXPECT_EQ(clusters(scop).first, Sizes({4}));
}

TEST_F(ChooseFusionTest, SumsAlongRowsAndColumnsStayApart) {
  auto scop = ScopBuilder(context())
                  .input("A", {2048, 2048})
                  .input("x", {2048})
                  .output("y", {2048})
                  .output("z", {2048})
                  .identity("I[i] : 0 <= i < 2048", "y[i]")
                  .accumulate("S[i, j] : 0 <= i, j < 2048", "y[i]", {"A[i, j]", "x[j]"})
                  .identity("J[j] : 0 <= j < 2048", "z[j]")
                  .accumulate("T[j, i] : 0 <= j, i < 2048", "z[j]", {"A[i, j]", "x[i]"})
                  .scop();
  auto [priced, unpriced] = clusters(scop);
  EXPECT_EQ(priced, Sizes({2, 2}));
  EXPECT_EQ(unpriced, Sizes({4})) << "the criterion decides nothing here";
}

TEST_F(ChooseFusionTest, WhatFollowsAProductElementByElementJoinsIt) {
  auto scop = ScopBuilder(context())
                  .input("X", {512, 512})
                  .input("A", {512, 512})
                  .temporary("P", {512, 512})
                  .output("Q", {512, 512})
                  .identity("I[n, o] : 0 <= n, o < 512", "P[n, o]")
                  .accumulate("S[n, o, k] : 0 <= n, o, k < 512", "P[n, o]", {"X[n, k]", "A[o, k]"})
                  .statement("R[n, o] : 0 <= n, o < 512", "Q[n, o]", {"P[n, o]"})
                  .scop();
  EXPECT_EQ(clusters(scop).first, Sizes({3}));
}

}  // namespace
}  // namespace tc::strategy
