#include "tc/polyhedral/map/fuse_in_parts.h"

#include <gtest/gtest.h>

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/laws/verify.h"
#include "tc/polyhedral/map/fused_parts_tree.h"
#include "tc/polyhedral/schedule/schedule.h"
#include "test/polyhedral/mapping_passes_fixture.h"
#include "test/support/simulate.h"

namespace tc::polyhedral {
namespace {

using Clusters = std::vector<std::vector<std::string>>;

class FuseInParts : public MappingPassTest {
 protected:
  static Scop scheduled(Scop scop) {
    scop.schedule = compute_schedule(scop, compute_dependences(scop), {});
    return scop;
  }
  static Clusters clusters(const Scop& scop) {
    Clusters result;
    for (const auto& cluster : cluster_views(scop)) {
      result.emplace_back();
      for (const auto& entry : cluster.statements) result.back().push_back(entry.id);
    }
    return result;
  }
  static bool is_possible(const Scop& scop, const FusedParts& parts) {
    return can_fuse_in_parts(scop, compute_dependences(scop), parts);
  }
  static void expect_same(const Scop& before, const Scop& after) {
    EXPECT_EQ(simulate(after), simulate(before));
    EXPECT_NO_THROW(verify(after, compute_dependences(after)));
  }
  /// m(n) = sum of A(n, c), D(n, c) = A(n, c) - m(n), C(c) = sum of A(n, c) * m(n), E(c) = C(c).
  Scop rows_and_columns(int rows, int columns) const {
    auto n = str("0 <= n < ", rows), c = str("0 <= c < ", columns), nc = str(n, " and ", c);
    return scheduled(ScopBuilder(context())
                         .input("A", {rows, columns})
                         .output("m", {rows})
                         .output("D", {rows, columns})
                         .output("C", {columns})
                         .output("E", {columns})
                         .identity(str("J[n] : ", n), "m[n]")
                         .accumulate(str("S[n, c] : ", nc), "m[n]", {"A[n, c]"})
                         .statement(str("T[n, c] : ", nc), "D[n, c]", {"A[n, c]", "m[n]"})
                         .identity(str("I[c] : ", c), "C[c]")
                         .accumulate(str("U[c, n] : ", nc), "C[c]", {"A[n, c]", "m[n]"})
                         .statement(str("V[c] : ", c), "E[c]", {"C[c]"})
                         .scop());
  }
};

TEST_F(FuseInParts, ColumnsJoinRowsPartByPart) {
  auto scop = rows_and_columns(36, 5);
  ASSERT_EQ(clusters(scop), (Clusters{{"J", "S", "T"}, {"I", "U", "V"}}));
  const FusedParts parts{0, 0, 12, {{"U", 1}}};
  ASSERT_TRUE(is_possible(scop, parts));
  auto result = fuse_in_parts(scop, parts, {});
  EXPECT_EQ(clusters(result), (Clusters{{"U_identity", "J", "S", "T", "U"}, {"I", "U_combine", "V"}}));
  auto fused = cluster_views(result).at(0);
  ASSERT_EQ(fused.members.size(), 1u);
  EXPECT_EQ(fused.members[0].extent(), 3);
  EXPECT_EQ(result.tensor("parts_U").extent, (std::vector<std::int64_t>{3, 5}));
  EXPECT_TRUE(writes(result, "U", "U[p, c, n] -> parts_U[p, c]"));
  EXPECT_TRUE(writes(result, "S", "S[p, n, c] -> m[12p + n]"));
  EXPECT_EQ(result.statement("U").iterators, (std::vector<std::string>{"n_part", "c", "n"}));
  expect_same(scop, result);
}

TEST_F(FuseInParts, TheLastPartMayBeShorter) {
  auto scop = rows_and_columns(36, 5);
  for (int size : {1, 10, 35, 36}) expect_same(scop, fuse_in_parts(scop, {0, 0, size, {{"U", 1}}}, {}));
}

/// D(n, o) = Y(n, o), b(o) = sum of D(n, o), the sum before or behind its cluster.
TEST_F(FuseInParts, MembersThatAreNotCutStandInAPart) {
  auto no = "0 <= n < 40 and 0 <= o < 33";
  auto scop = scheduled(ScopBuilder(context())
                            .input("Y", {40, 33})
                            .output("D", {40, 33})
                            .output("b", {33})
                            .statement(str("S[n, o] : ", no), "D[n, o]", {"Y[n, o]"})
                            .identity("I[o] : 0 <= o < 33", "b[o]")
                            .accumulate(str("U[o, n] : ", no), "b[o]", {"D[n, o]"})
                            .scop());
  const FusedParts parts{0, 0, 8, {{"U", 1}}};
  ASSERT_EQ(clusters(scop), (Clusters{{"S"}, {"I", "U"}}));
  ASSERT_TRUE(is_possible(scop, parts));
  auto result = fuse_in_parts(scop, parts, {});
  EXPECT_EQ(clusters(result), (Clusters{{"U_identity", "S", "U"}, {"I", "U_combine"}}));
  const auto sums = cluster_views(result).at(0).statements.at(2);
  ASSERT_EQ(sums.inner.size(), 2u);
  EXPECT_TRUE(sums.inner[1].shared) << "the sums are taken as the rows are made";
  expect_same(scop, result);
}

TEST_F(FuseInParts, AnEarlierReductionMovesBehindUnlessItIsNeeded) {
  auto program = [&](const char* read) {
    auto nc = "0 <= n < 36 and 0 <= c < 5";
    return scheduled(ScopBuilder(context())
                         .input("A", {36, 5})
                         .output("C", {5})
                         .output("m", {36})
                         .identity("I[c] : 0 <= c < 5", "C[c]")
                         .accumulate(str("U[c, n] : ", nc), "C[c]", {"A[n, c]"})
                         .identity("J[n] : 0 <= n < 36", "m[n]")
                         .accumulate(str("S[n, c] : ", nc), "m[n]", {"A[n, c]", read})
                         .scop());
  };
  auto scop = program("A[n, c]");
  ASSERT_EQ(clusters(scop), (Clusters{{"I", "U"}, {"J", "S"}}));
  const FusedParts parts{1, 0, 9, {{"U", 1}}};
  ASSERT_TRUE(is_possible(scop, parts));
  auto result = fuse_in_parts(scop, parts, {});
  EXPECT_EQ(clusters(result), (Clusters{{"U_identity", "J", "S", "U"}, {"I", "U_combine"}}));
  expect_same(scop, result);
  EXPECT_FALSE(is_possible(program("C[c]"), parts));
}

TEST_F(FuseInParts, WhatAnotherIterationMakesIsNotThere) {
  auto program = [&](const char* read) {
    auto nc = "0 <= n < 36 and 0 <= c < 5";
    return scheduled(ScopBuilder(context())
                         .input("A", {36, 5})
                         .output("C", {5})
                         .output("m", {36})
                         .identity("J[n] : 0 <= n < 36", "m[n]")
                         .accumulate(str("S[n, c] : ", nc), "m[n]", {"A[n, c]"})
                         .identity("I[c] : 0 <= c < 5", "C[c]")
                         .accumulate(str("U[c, n] : ", nc), "C[c]", {"A[n, c]", read})
                         .scop());
  };
  const FusedParts parts{0, 0, 9, {{"U", 1}}};
  EXPECT_TRUE(is_possible(program("m[n]"), parts));
  EXPECT_FALSE(is_possible(program("m[35 - n]"), parts));
  EXPECT_FALSE(is_possible(program("m[n]"), {0, 0, 9, {{"U", 0}}})) << "an iterator of the result";
  EXPECT_FALSE(is_possible(program("m[n]"), {0, 0, 9, {{"S", 1}}})) << "of the cluster itself";
  EXPECT_FALSE(is_possible(program("m[n]"), {0, 1, 9, {{"U", 1}}})) << "no such member";
}

TEST_F(FuseInParts, EachStatementKnowsWhatIsCutOfIt) {
  auto scop = rows_and_columns(36, 5);
  const auto host = cluster_views(scop).at(0);
  const FusedParts parts{0, 0, 12, {{"U", 1}}};
  EXPECT_EQ(ids_of(host), (std::vector<std::string>{"J", "S", "T"}));
  EXPECT_EQ(cut_iterator(host, parts, "S"), 0);
  EXPECT_EQ(cut_iterator(host, parts, "U"), 1);
  EXPECT_EQ(cut_iterator(host, parts, "V"), -1);
  const isl::map pairs(ctx(), "{ S[i, j] -> U[j, i] : 0 <= i, j < 9 }");
  EXPECT_TRUE(are_equal(pairs, 0, 1));
  EXPECT_FALSE(are_equal(pairs, 0, 0));
}

}  // namespace
}  // namespace tc::polyhedral
