#include "tc/strategy/cpu/choose_fusion.h"

#include <gtest/gtest.h>

#include "tc/polyhedral/schedule/schedule.h"
#include "tc/strategy/cpu/choose_mapping.h"
#include "tc/strategy/cpu/price_cluster.h"
#include "test/support/isl_fixture.h"
#include "test/support/scop_builder.h"

namespace tc::strategy {
namespace {

using polyhedral::ClusterView;
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

  double price(const Scop& scop) const {
    auto gathered = scop;
    double result = 0;
    for (const auto& cluster : polyhedral::cluster_views(gathered))
      result += price_cluster(gathered, cluster, choose_cluster_mapping(gathered, cluster, target_, {}),
                              buffer_bytes(target_, {}), target_);
    return result;
  }

  Scop copy(const std::string& box, const std::string& read, std::vector<std::int64_t> from,
            std::vector<std::int64_t> to) const {
    auto scop =
        ScopBuilder(context()).input("A", from).output("C", to).statement("S[i, j] : " + box, "C[i, j]", {read}).scop();
    scop.schedule = polyhedral::compute_schedule(scop, polyhedral::compute_dependences(scop), {});
    return scop;
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

TEST_F(ChooseFusionTest, CopiesCostWhatTheirBytesTakeFromTheThirdCache) {
  // 64 x 20000 floats, 5.12 MB: read once, written, and fetched to be written, at 12 bytes a cycle for each of two cores.
  EXPECT_DOUBLE_EQ(price(copy("0 <= i < 64 and 0 <= j < 20000", "A[i, j]", {64, 20000}, {64, 20000})),
                   3 * 64 * 20000 * 4.0 / 12 / 2);
}

TEST_F(ChooseFusionTest, CopiesNearTheCoreCostTheirInstructions) {
  // 4 x 64 floats in vectors of 16, in one thread: half a cycle to load, one to store.
  EXPECT_DOUBLE_EQ(price(copy("0 <= i < 4 and 0 <= j < 64", "A[i, j]", {4, 64}, {4, 64})), 16 * 1.5);
}

TEST_F(ChooseFusionTest, ElementsThatLieApartCostALineEach) {
  auto rows = price(copy("0 <= i < 512 and 0 <= j < 512", "A[i, j]", {512, 512}, {512, 512}));
  auto apart = price(copy("0 <= i < 512 and 0 <= j < 512", "A[i, 16*j]", {512, 8192}, {512, 512}));
  EXPECT_GT(apart, 5 * rows);
}

}  // namespace
}  // namespace tc::strategy
