#include "tc/polyhedral/map/drop_unread.h"

#include <gtest/gtest.h>

#include "test/polyhedral/mapping_passes_fixture.h"

namespace tc::polyhedral::drop_unread_test {
namespace {

class DropUnread : public MappingPassTest {
 protected:
  /// for t in 0:9 { G(t,n) = X(t,n)  H(t,n) = G(t,n) + H(t-1,n) where t > \p first }  Y(n) = H(\p last, n), n in 0:6.
  Scop running(const std::string& first, const std::string& last, bool keeps_all = false) const {
    ScopBuilder builder(context());
    builder.input("X", {9, 6}).temporary("G", {9, 6}).output("Y", {6});
    keeps_all ? builder.output("H", {9, 6}) : builder.temporary("H", {9, 6});
    const std::string all = " : 0 <= t < 9 and 0 <= n < 6";
    builder.statement("g[t, n]" + all, "G[t, n]", {"X[t, n]"});
    builder.statement("h[t, n]" + all, "H[t, n]", {"G[t, n]", "H[t - 1, n]"});
    builder.statement("y[n] : 0 <= n < 6", "Y[n]", {"H[" + last + ", n]"});
    auto scop = builder.scop();
    for (const auto* id : {"g", "h"}) scop.statement(id).loops = {{1, 0}};
    auto& earlier = scop.statement("h").reads[1].relation;
    earlier = earlier.intersect_domain(isl::set(scop.ctx(), "{ h[t, n] : t > " + first + " }"));
    scop.schedule = program_order(scop);
    return scop;
  }
  static bool runs(const Scop& scop, const std::string& id, const std::string& instances) {
    return scop.statement(id).domain.is_equal(isl::set(scop.ctx(), "{ " + id + instances + " }"));
  }
};

TEST_F(DropUnread, IterationsBehindTheLastThatIsReadDoNotRun) {
  const auto result = drop_unread(running("0", "floor(n/2)"));
  const std::string needed = "[t, n] : 0 <= 2 t <= n < 6";
  EXPECT_TRUE(runs(result, "h", needed)) << result.statement("h").domain;
  EXPECT_TRUE(runs(result, "g", needed)) << "what they read alone: " << result.statement("g").domain;
  EXPECT_TRUE(runs(result, "y", "[n] : 0 <= n < 6"));
}

TEST_F(DropUnread, IterationsInFrontOfTheFirstDoNotRun) {
  const auto result = drop_unread(running("n", "8"));
  EXPECT_TRUE(runs(result, "h", "[t, n] : n <= t < 9 and 0 <= n < 6")) << result.statement("h").domain;
  EXPECT_TRUE(runs(result, "g", "[t, n] : n <= t < 9 and 0 <= n < 6")) << result.statement("g").domain;
}

/// A condition on a read of the same iteration leaves the statements of the loop one range.
TEST_F(DropUnread, AConditionOnTheOwnIterationDropsNothing) {
  auto scop = running("0", "floor(n/2)");
  auto& own = scop.statement("h").reads[0].relation;
  own = own.intersect_domain(isl::set(scop.ctx(), "{ h[t, n] : t > 0 }"));
  const auto result = drop_unread(scop);
  EXPECT_TRUE(runs(result, "g", "[t, n] : 0 <= 2 t <= n < 6")) << result.statement("g").domain;
}

TEST_F(DropUnread, OutputsAndWhatIsReadAsAWholeStay) {
  for (const auto& scop : {running("0", "8"), running("0", "floor(n/2)", true)})
    for (const auto* id : {"g", "h"})
      EXPECT_TRUE(drop_unread(scop).statement(id).domain.is_equal(scop.statement(id).domain)) << id;
}

TEST_F(DropUnread, WithoutLoopsNothingIsDropped) {
  auto scop = running("0", "floor(n/2)");
  for (auto& statement : scop.statements) statement.loops.clear();
  EXPECT_TRUE(drop_unread(scop).statement("h").domain.is_equal(scop.statement("h").domain));
}

}  // namespace
}  // namespace tc::polyhedral::drop_unread_test
