#include "tc/strategy/grid/one_contraction.h"

#include <gtest/gtest.h>

#include "tc/base/str.h"
#include "tc/polyhedral/schedule/schedule.h"
#include "test/support/isl_fixture.h"
#include "test/support/scop_builder.h"

namespace tc::strategy {
namespace {

using polyhedral::Scop;
using polyhedral::ScopBuilder;

class OneContractionTest : public polyhedral::IslTest {
 protected:
  /// H and G, two products of X of \p rows, and what reads both.
  Scop gated(int rows) const {
    const auto mn = str("0 <= m < ", rows, " and 0 <= n < 64"), mnk = mn + " and 0 <= k < 32";
    auto scop = ScopBuilder(context())
                    .input("X", {rows, 32})
                    .input("U", {64, 32})
                    .input("V", {64, 32})
                    .temporary("H", {rows, 64})
                    .temporary("G", {rows, 64})
                    .output("Y", {rows, 64})
                    .identity("I[m, n] : " + mn, "H[m, n]")
                    .accumulate("P[m, n, k] : " + mnk, "H[m, n]", {"X[m, k]", "U[n, k]"})
                    .identity("J[m, n] : " + mn, "G[m, n]")
                    .accumulate("Q[m, n, k] : " + mnk, "G[m, n]", {"X[m, k]", "V[n, k]"})
                    .statement("S[m, n] : " + mn, "Y[m, n]", {"H[m, n]", "G[m, n]"})
                    .scop();
    for (const char* id : {"P", "Q"}) scop.statement(id).product = true;
    return scop;
  }
  /// The statements of each cluster.
  static std::vector<std::size_t> clusters(Scop scop, bool with_criterion) {
    const OneContraction criterion(scop);
    scop.schedule = polyhedral::compute_schedule(scop, polyhedral::compute_dependences(scop), {},
                                                 with_criterion ? &criterion : nullptr);
    std::vector<std::size_t> result;
    for (const auto& cluster : polyhedral::cluster_views(scop)) result.push_back(cluster.statements.size());
    return result;
  }
};

TEST_F(OneContractionTest, ProductsOfMatricesAreKernelsOfTheirOwn) {
  EXPECT_EQ(clusters(gated(64), false), (std::vector<std::size_t>{5}));
  EXPECT_EQ(clusters(gated(64), true), (std::vector<std::size_t>{2, 3})) << "the second one with what reads both";
}

TEST_F(OneContractionTest, SmallOnesAreFused) { EXPECT_EQ(clusters(gated(8), true), (std::vector<std::size_t>{5})); }

}  // namespace
}  // namespace tc::strategy
