#include "tc/polyhedral/schedule/join_loops.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tc/polyhedral/core/dependences.h"
#include "test/support/isl_fixture.h"
#include "test/support/scop_builder.h"

namespace tc::polyhedral::join_loops_test {
namespace {

/// Caches that hold \p bytes.
class Caches : public FusionCriterion {
 public:
  explicit Caches(std::int64_t bytes) : bytes_(bytes) {}
  bool pays(const ClusterView&, const ClusterView&, const ClusterView&) const override { return true; }
  bool fits_caches(std::int64_t bytes) const override { return bytes <= bytes_; }

 private:
  std::int64_t bytes_;
};

/// for t { G(t,n) = ...  H(t,n) = G(t,n) + H(t-1,n)  Y(t,n) = H(t - distance,n) }
class JoinLoops : public IslTest {
 protected:
  Scop steps(const std::string& first_read, int distance) const {
    const std::string tn = "0 <= t < 100 and 0 <= n < 8";
    auto scop = ScopBuilder(context())
                    .input("X", {100, 8})
                    .input("W", {8, 64})
                    .temporary("G", {100, 8})
                    .temporary("H", {100, 8})
                    .output("Y", {100, 8})
                    .identity("Z[t, n] : " + tn, "G[t, n]")
                    .accumulate("S[t, n, k] : 0 <= k < 64 and " + tn, "G[t, n]", {first_read})
                    .statement("T[t, n] : " + tn, "H[t, n]", {"G[t, n]", "H[t - 1, n] : t >= 1"})
                    .statement("U[t, n] : " + tn, "Y[t, n]", {str("H[t - ", distance, ", n] : t >= ", distance)})
                    .scop();
    for (auto& statement : scop.statements) statement.loops = {{1, 0}};
    scop.schedule = program_order(scop);
    return scop;
  }

  std::vector<std::size_t> sizes(const Scop& scop, std::int64_t cache) const {
    const auto dependences = compute_dependences(scop);
    const StatementGraph graph(scop, dependences);
    std::vector<int> all(scop.statements.size());
    std::iota(all.begin(), all.end(), 0);
    Free free;
    for (const auto& node : graph.nodes) free.emplace_back(node.size(), true);
    const auto loops = distribute_loops(scop, graph, units_of(scop, all, 0), 0);
    std::vector<std::size_t> result;
    for (const auto& unit : join_loops(scop, graph, loops, free, 0, Caches(cache))) result.push_back(unit.size());
    return result;
  }
};

using Sizes = std::vector<std::size_t>;

TEST_F(JoinLoops, WhereATemporaryDoesNotFitTheCaches) {
  EXPECT_EQ(sizes(steps("X[t, n]", 0), 100), (Sizes{4}));
  EXPECT_EQ(sizes(steps("X[t, n]", 0), 1 << 20), (Sizes{2, 1, 1}));
}

TEST_F(JoinLoops, LeavesAProductWithOneMatrixForAllSteps) { EXPECT_EQ(sizes(steps("W[n, k]", 0), 100), (Sizes{2, 2})); }

TEST_F(JoinLoops, LeavesReadersOfManyStepsBefore) {
  EXPECT_EQ(sizes(steps("X[t, n]", 8), 100), (Sizes{4}));
  EXPECT_EQ(sizes(steps("X[t, n]", 9), 100), (Sizes{3, 1}));
}

}  // namespace
}  // namespace tc::polyhedral::join_loops_test
