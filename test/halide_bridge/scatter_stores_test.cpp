#include "tc/halide_bridge/rewrite/scatter_stores.h"

#include <gtest/gtest.h>

#include "tc/halide_bridge/rewrite/drop_idle_iterators.h"
#include "test/halide_bridge/lower_fixture.h"

namespace tc::halide_bridge::scatter_stores_test {
namespace {

const lang::SizeMap sizes{{"A", 3}, {"N", 8}, {"D", 4}, {"E", 16}};

/// The launches of a def with the statements \p text and returns \p returns, after the pass.
std::string stores_of(const std::string& text, const std::string& returns = "Y") {
  const std::string def =
      "def f(int32(N) p, int32(A,N) q, float(N,D) X, float(E,D) old) -> (" + returns + ") { " + text + " }";
  const std::string all = print(scatter_stores(drop_idle_iterators(lowered(def, sizes), {})));
  return all.substr(all.find("launch"));
}

bool has(const std::string& all, const std::string& part) { return all.find(part) != std::string::npos; }

TEST(ScatterStores, StoreInTheOrderOfInstances) {
  EXPECT_EQ(stores_of("Y(e,d) = old(e,d)  Y(p(i),d) = X(i,d)"), R"(launch 0
  S0[]: check0'() = identity(||)
  S1[i in 0:8]: check0'() ||= uint64(int64(p(i))) >= 16u
  check check0' (before writes): subscript 0 of Y, 'p(i)', must be in [0, 16): a value in p is not
launch 1
  S2[e in 0:16, d in 0:4]: Y(e, d) = old(e, d)
  S8[i in 0:8, d in 0:4]: Y(int64(p(i)), d) = X(i, d)
)");
}

TEST(ScatterStores, LeaveTheTensorOfTheCallerAlone) {
  const std::string all = stores_of("Y(p(i),d) = X(i,d)", "float(E,D) Y");
  EXPECT_TRUE(has(all, "launch 1\n  S8[i in 0:8, d in 0:4]: Y(int64(p(i)), d) = X(i, d)\n")) << all;
  EXPECT_FALSE(has(all, "e in 0:16")) << all;
}

TEST(ScatterStores, HaveTheIteratorsOfAllWinners) {
  const auto all = stores_of("Y(e) = old(e,0)  Y((p(i) + q(a,i)) % E) = X(i,0) + a");
  EXPECT_TRUE(has(all, "[i in 0:8, a in 0:3]: Y(")) << all;
  const auto turned = stores_of("Y(e) = old(e,0)  Y((0*a + p(i) + q(a,i)) % E) = X(i,0) + a");
  EXPECT_TRUE(has(turned, "[a in 0:3, i in 0:8]: Y(")) << turned;
}

TEST(ScatterStores, KeepIteratorsOfTheLeft) {
  const auto all = stores_of("Y(a,e,d) = old(e,d) where a in 0:A  Y(a,q(a,0),d) = X(a,d)");
  EXPECT_TRUE(has(all, "[a in 0:3, d in 0:4]: Y(a, int64(q(a, 0)), d) = X(a, d)")) << all;
}

TEST(ScatterStores, StayWhatTheyAreWhereOthersNeedTheWinner) {
  const char* const texts[] = {
      // The winner is a result.
      "Y(e,d) = old(e,d)  W(e) max=! p(i) == e ? i : int64(-9223372036854775808) where e in 0:E"
      "  Y(e,d) = W(e) != int64(-9223372036854775808) ? X(W(e),d) : Y(e,d)",
      // What names elements is written in between.
      "Y(e) = old(e,0)  k(i) = p(i)  V(e) max=! k(i) == e ? i : int64(-9223372036854775808) where e in 0:E, exists "
      "Y(k(i))"
      "  k(i) = 0 where i in 0:N  Y(e) = V(e) != int64(-9223372036854775808) ? X(V(e),0) : Y(e)  W(i) = k(i)",
      // An index outside of the tensor adds nothing.
      "Y(e) = old(e,0)  V(e) max=! p(i) == e ? i : int64(-9223372036854775808) where e in 0:E"
      "  Y(e) = V(e) != int64(-9223372036854775808) ? X(V(e),0) : Y(e)  W(i) = p(i)",
      // The other arm is no element of the target.
      "Y(e) = old(e,0)  V(e) max=! p(i) == e ? i : int64(-9223372036854775808) where e in 0:E, exists Y(p(i))"
      "  Y(e) = V(e) != int64(-9223372036854775808) ? X(V(e),0) : old(e,1)  W(i) = p(i)",
  };
  for (const char* text : texts)
    EXPECT_FALSE(has(stores_of(text, "Y, W"), "Y(int64(")) << text << stores_of(text, "Y, W");
}

TEST(ScatterStores, OfALongFormAreFound) {
  const auto all = stores_of(
      "Y(e) = old(e,0)  V(e) max=! p(i) == e ? i : int64(-9223372036854775808) where e in 0:E, exists Y(p(i))"
      "  Y(e) = V(e) != int64(-9223372036854775808) ? X(V(e),0) : Y(e)  W(i) = p(i)",
      "Y, W");
  EXPECT_TRUE(has(all, "[i in 0:8]: Y(int64(p(i))) = X(i, 0)")) << all;
}

TEST(ScatterStores, OfTensorsToThemselvesGo) {
  EXPECT_FALSE(has(stores_of("Y(i,d) = X(i,d)  Y(i,d) = Y(i,d)"), "= Y("));
  EXPECT_TRUE(has(stores_of("Y(i,d) = X(i,d)  Y(i,d) = Y(i,d) + 1"), "= Y("));
}

}  // namespace
}  // namespace tc::halide_bridge::scatter_stores_test
