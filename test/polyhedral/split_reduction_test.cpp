#include "tc/polyhedral/map/split_reduction.h"

#include <gtest/gtest.h>

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/laws/verify.h"
#include "tc/polyhedral/schedule/schedule.h"
#include "test/polyhedral/mapping_passes_fixture.h"
#include "test/support/simulate.h"

namespace tc::polyhedral {
namespace {

class SplitReduction : public MappingPassTest {
 protected:
  static Scop scheduled(Scop scop) {
    scop.schedule = compute_schedule(scop, compute_dependences(scop), {});
    return scop;
  }
  /// The statements of each cluster, in the order of the schedule.
  static std::vector<std::vector<std::string>> clusters(const Scop& scop) {
    std::vector<std::vector<std::string>> result;
    for (const auto& cluster : cluster_views(scop)) {
      result.emplace_back();
      for (const auto& entry : cluster.statements) result.back().push_back(entry.id);
    }
    return result;
  }
  /// C(i) = sum of A(i, k), D(i) = C(i), in one cluster.
  Scop sums_and_users(int rows, int columns) const {
    auto i = str("0 <= i < ", rows), ik = str(i, " and 0 <= k < ", columns);
    return scheduled(ScopBuilder(context())
                         .input("A", {rows, columns})
                         .output("C", {rows})
                         .output("D", {rows})
                         .identity(str("I[i] : ", i), "C[i]")
                         .accumulate(str("U[i, k] : ", ik), "C[i]", {"A[i, k]"})
                         .statement(str("V[i] : ", i), "D[i]", {"C[i]"})
                         .scop());
  }
  static void expect_same(const Scop& before, const Scop& after) {
    EXPECT_EQ(simulate(after), simulate(before));
    EXPECT_NO_THROW(verify(after, compute_dependences(after)));
  }
};

TEST_F(SplitReduction, PartsComeFirstAndAreCombined) {
  auto scop = sums_and_users(3, 12);
  auto result = split_reduction(scop, {"U", {{1, 4, 3}}}, {});
  EXPECT_EQ(clusters(result), (std::vector<std::vector<std::string>>{{"U_identity", "U"}, {"I", "U_combine", "V"}}));
  auto parts = cluster_views(result).at(0);
  ASSERT_EQ(parts.members.size(), 2u);
  EXPECT_EQ(parts.members[0].extent(), 3);
  EXPECT_EQ(parts.members[1].extent(), 3);
  EXPECT_EQ(result.tensor("parts_U").extent, (std::vector<std::int64_t>{3, 3}));
  EXPECT_TRUE(writes(result, "U", "U[p, i, k] -> parts_U[i, p]"));
  EXPECT_EQ(result.statement("U").iterators, (std::vector<std::string>{"k_part", "i", "k"}));
  expect_same(scop, result);
}

TEST_F(SplitReduction, WhatIsLeftJoinsTheResult) {
  auto scop = sums_and_users(3, 14);
  auto result = split_reduction(scop, {"U", {{1, 4, 3}}}, {});
  EXPECT_EQ(clusters(result).at(1), (std::vector<std::string>{"I", "U_combine", "U_rest", "V"}));
  EXPECT_TRUE(
      result.statement("U_rest").domain.is_equal(isl::set(ctx(), "{ U_rest[i, k] : 0 <= i < 3 and 12 <= k < 14 }")));
  expect_same(scop, result);
}

TEST_F(SplitReduction, SeveralIteratorsMayBeCut) {
  auto box = " : 0 <= i < 5 and 2 <= k < 13 and 0 <= l < 7";
  auto scop = scheduled(ScopBuilder(context())
                            .input("A", {5, 13, 7})
                            .output("s", {})
                            .accumulate(str("U[i, k, l]", box), "s[]", {"A[i, k, l]"})
                            .scop());
  for (const auto& cuts : {std::vector<ReductionParts::Cut>{{0, 1, 5}, {1, 3, 3}},
                           {{1, 1, 11}, {2, 2, 3}},
                           {{2, 7, 1}},
                           {{0, 2, 2}, {2, 3, 2}}}) {
    auto result = split_reduction(scop, {"U", cuts}, {});
    EXPECT_EQ(cluster_views(result).at(0).members.size(), cuts.size());
    expect_same(scop, result);
  }
}

/// What the parts need runs before them, although one cluster has it all.
TEST_F(SplitReduction, WhatThePartsNeedRunsBefore) {
  auto i = "0 <= i < 2", ik = "0 <= i < 2 and 0 <= k < 9";
  auto scop = scheduled(ScopBuilder(context())
                            .input("A", {2, 9})
                            .output("m", {2})
                            .output("v", {2})
                            .identity(str("I[i] : ", i), "m[i]")
                            .accumulate(str("U[i, k] : ", ik), "m[i]", {"A[i, k]"})
                            .identity(str("J[i] : ", i), "v[i]")
                            .accumulate(str("W[i, k] : ", ik), "v[i]", {"A[i, k]", "m[i]"})
                            .scop());
  auto second = split_reduction(scop, {"W", {{1, 3, 3}}}, {});
  EXPECT_EQ(clusters(second),
            (std::vector<std::vector<std::string>>{{"I", "U"}, {"W_identity", "W"}, {"J", "W_combine"}}));
  expect_same(scop, second);
  auto both = split_reduction(second, {"U", {{1, 2, 3}}}, {});
  EXPECT_EQ(clusters(both),
            (std::vector<std::vector<std::string>>{
                {"U_identity", "U"}, {"I", "U_combine", "U_rest"}, {"W_identity", "W"}, {"J", "W_combine"}}));
  expect_same(scop, both);
}

TEST_F(SplitReduction, ResultsOfAPartMayLieTogether) {
  auto scop = sums_and_users(3, 14);
  auto result = split_reduction(scop, {"U", {{1, 4, 3}}, true}, {});
  EXPECT_EQ(result.tensor("parts_U").extent, (std::vector<std::int64_t>{3, 3}));
  EXPECT_TRUE(writes(result, "U", "U[p, i, k] -> parts_U[p, i]"));
  expect_same(scop, result);
}

TEST_F(SplitReduction, ValuesKnowTheirSource) {
  auto result = split_reduction(sums_and_users(3, 12), {"U", {{1, 4, 3}}}, {});
  EXPECT_TRUE(result.statement("U").origin.plain_is_equal(isl::multi_aff(ctx(), "{ U[p, i, k] -> U[i, 4p + k] }")));
}

}  // namespace
}  // namespace tc::polyhedral
