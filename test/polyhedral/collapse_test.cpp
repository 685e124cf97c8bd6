#include "tc/polyhedral/schedule/collapse.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/generate/generate.h"
#include "tc/polyhedral/laws/verify.h"
#include "tc/polyhedral/map_cpu/map_to_cpu.h"
#include "tc/polyhedral/map_cpu/pack.h"
#include "tc/polyhedral/schedule/schedule.h"
#include "test/support/isl_fixture.h"
#include "test/support/scop_builder.h"
#include "test/support/simulate.h"

namespace tc::polyhedral {
namespace {

class CollapseTest : public IslTest {
 protected:
  /// C(i, j, k) +=! A(i, l) * B(k, l, j), the indices of C as \p written.
  Scop contraction(const char* written = "C[i, j, k]", std::vector<std::int64_t> extent = {5, 3, 6}) const {
    auto ijk = "0 <= i < 5 and 0 <= j < 3 and 2 <= k < 8";
    auto scop = ScopBuilder(context())
                    .input("A", {5, 4})
                    .input("B", {8, 4, 3})
                    .output("C", std::move(extent))
                    .identity(str("S[i, j, k] : ", ijk), written)
                    .accumulate(str("U[i, j, k, l] : ", ijk, " and 0 <= l < 4"), written, {"A[i, l]", "B[k, l, j]"})
                    .scop();
    for (auto& tensor : scop.tensors)
      if (tensor.name == "C" && tensor.extent[2] == 6) tensor.min[2] = 2;
    scop.schedule = compute_schedule(scop, compute_dependences(scop), {});
    return scop;
  }
  /// The members of the band that run over \p iterators of S.
  static Collapse over(const Scop& scop, const std::vector<int>& iterators) {
    Collapse result;
    auto outer = cluster_views(scop).at(0).statements.at(0).outer;
    for (int i : iterators)
      result.members.push_back(static_cast<int>(std::find(outer.begin(), outer.end(), i) - outer.begin()));
    return result;
  }
  /// \p scop collapsed, under all laws and with the same results.
  Scop collapsed(const Scop& scop, const Collapse& choice) const {
    auto whole = clustered(scop);
    EXPECT_TRUE(can_collapse(whole, choice));
    auto dependences = compute_dependences(scop);
    collapse(whole, dependences, choice);
    const auto& result = whole.scop;
    EXPECT_NO_THROW(verify(result, dependences));
    EXPECT_TRUE(dependences.validity.is_equal(compute_dependences(result).validity));
    EXPECT_EQ(simulate(result), simulate(scop));
    return result;
  }
  bool is(const isl::map& map, const std::string& text) const { return map.is_equal(isl::map(ctx(), text)); }
};

TEST_F(CollapseTest, NumbersTheIterationsOfANest) {
  auto result = collapsed(contraction(), {0, {1, 2}});
  EXPECT_EQ(result.statement("U").iterators, (std::vector<std::string>{"i", "j_k", "l"}));
  EXPECT_TRUE(result.statement("U").domain.is_equal(
      isl::set(ctx(), "{ U[i, g, l] : 0 <= i < 5 and 0 <= g < 18 and 0 <= l < 4 }")));
  EXPECT_TRUE(is(result.statement("U").reads[1].relation,
                 "{ U[i, g, l] -> B[2 + g mod 6, l, floor(g/6)] : 0 <= i < 5 and 0 <= g < 18 and 0 <= l < 4 }"));
  auto cluster = cluster_views(result).at(0);
  ASSERT_EQ(cluster.members.size(), 2u);
  EXPECT_EQ(cluster.members[1].extent(), 18);
  EXPECT_EQ(cluster.statements[1].outer, (std::vector<int>{0, 1}));
}

TEST_F(CollapseTest, TheOrderOfMembersIsThatOfTheNest) {
  auto result = collapsed(contraction(), {0, {2, 0}});
  EXPECT_TRUE(is(result.statement("S").write.relation,
                 "{ S[j, g] -> C[g mod 5, j, 2 + floor(g/5)] : 0 <= j < 3 and 0 <= g < 30 }"));
  collapsed(contraction(), {0, {2, 1, 0}});
  collapsed(contraction(), {0, {0, 1, 2}});
}

TEST_F(CollapseTest, DigitsThatLieSideBySideHaveTheStrideOfTheirIterator) {
  auto result = collapsed(contraction(), {0, {1, 2}});
  EXPECT_EQ(stride(result, result.statement("U").write, 1), 1);
  EXPECT_EQ(stride(result, result.statement("U").write, 0), 18);
  EXPECT_EQ(stride(result, result.statement("U").reads[1], 1), unknown_stride);
  EXPECT_EQ(stride(result, result.statement("U").reads[1], 2), 3);
  EXPECT_EQ(even_lanes(result, result.statement("U").write, 1, 8), 8);
  EXPECT_EQ(even_lanes(result, result.statement("U").reads[1], 1, 8), 2);
}

TEST_F(CollapseTest, ReadsIndexedByDigitsCanBePacked) {
  auto result = collapsed(contraction(), {0, {1, 2}});
  EXPECT_EQ(index_iterators(result.statement("U"), 0), (std::vector<int>{0, 2}));
  EXPECT_EQ(index_iterators(result.statement("U"), 1), (std::vector<int>{1, 2}));
  result.statement("U").reads[1] = result.statement("U").reads[0];
  result.statement("U").reads[1].function = isl::pw_multi_aff(ctx(), "{ U[i, g, l] -> B[g mod 6, l, 0] }");
  EXPECT_EQ(index_iterators(result.statement("U"), 1), std::vector<int>()) << "two columns read one element";
}

TEST_F(CollapseTest, IteratorsWithOneValueStillIndex) {
  auto scop = ScopBuilder(context())
                  .input("A", {1, 6, 4})
                  .output("C", {1, 6, 4})
                  .accumulate("U[n, i, j, l] : 0 <= n < 1 and 0 <= i < 6 and 0 <= j < 4 and 0 <= l < 3", "C[n, i, j]",
                              {"A[n, i, j]"})
                  .scop();
  scop.schedule = compute_schedule(scop, compute_dependences(scop), {});
  auto result = collapsed(scop, over(scop, {1, 2}));
  EXPECT_EQ(index_iterators(result.statement("U"), 0), (std::vector<int>{0, 1}));
}

TEST_F(CollapseTest, AddressesOfDigitsSideBySideHaveNoDivisions) {
  auto scop = contraction();
  auto text = print(generate_ast(collapsed(scop, over(scop, {1, 2}))));
  EXPECT_NE(text.find("C[c0][0][c1 + 2]"), std::string::npos) << text;
  EXPECT_NE(text.find("B[(c1 % 6) + 2][c2][c1 / 6]"), std::string::npos) << text;
}

TEST_F(CollapseTest, TilesRunAcrossTheBordersOfTheLoops) {
  struct {
    const char* written;
    std::vector<std::int64_t> extent;
    std::vector<int> iterators;
  } cases[] = {{"C[i, j, k]", {5, 3, 6}, {1, 2}}, {"C[j, i, k]", {3, 5, 8}, {1, 2}}, {"C[j, i, k]", {3, 5, 8}, {2, 1}}};
  for (const auto& test : cases) {
    auto scop = contraction(test.written, test.extent);
    auto result = collapsed(scop, over(scop, test.iterators));
    auto view = cluster_views(result).at(0);
    int g = static_cast<int>(std::find(result.statement("S").iterators.begin(), result.statement("S").iterators.end(),
                                       test.iterators[0] == 1 ? "j_k" : "k_j") -
                             result.statement("S").iterators.begin());
    int member = static_cast<int>(std::find(view.statements[0].outer.begin(), view.statements[0].outer.end(), g) -
                                  view.statements[0].outer.begin());
    ClusterMapping cluster{
        .members = {{0, 2}, {0, 2}}, .register_tile = true, .staged = {"C"}, .copies = {"", member, 4}};
    cluster.members[member].points = 4;
    cluster.statements = {{"S", g, 4}, {"U", g, 4}};
    cluster.packed = {{.statement = "U", .read = 1, .panel = g, .size = 4, .lanes = 2}};
    auto mapped = map_to_cpu(clustered(result), {.clusters = {cluster}});
    EXPECT_NO_THROW(verify(mapped, compute_dependences(result)));
    EXPECT_EQ(simulate(mapped), simulate(scop)) << test.written;
    EXPECT_EQ(mapped.tensor("local_acc_C").extent.size(), 2u) << test.written;
  }
}

TEST_F(CollapseTest, NeedsIteratorsOfTheirOwnInAllStatements) {
  EXPECT_TRUE(can_collapse(clustered(contraction()), {0, {0, 1}}));
  EXPECT_FALSE(can_collapse(clustered(contraction()), {0, {0}}));
  EXPECT_FALSE(can_collapse(clustered(contraction()), {0, {0, 3}}));
  EXPECT_FALSE(can_collapse(clustered(contraction()), {1, {0, 1}}));
  auto shifted = ScopBuilder(context())
                     .input("A", {6, 6})
                     .temporary("T", {6, 6})
                     .output("C", {6, 6})
                     .statement("S[i, j] : 0 <= i < 6 and 0 <= j < 6", "T[i, j]", {"A[i, j]"})
                     .statement("R[i, j] : 0 <= i < 6 and 0 <= j < 5", "C[i, j]", {"T[i, j + 1]"})
                     .scop();
  shifted.schedule =
      schedule(R"({domain: "{ S[i, j] : 0 <= i < 6 and 0 <= j < 6; R[i, j] : 0 <= i < 6 and 0 <= j < 5 }",
      child: {schedule: "[{ S[i, j] -> [(i)]; R[i, j] -> [(i)] }, { S[i, j] -> [(j)]; R[i, j] -> [(j + 1)] }]", permutable: 1,
              coincident: [1, 1], child: {sequence: [{filter: "{ S[i, j] }"}, {filter: "{ R[i, j] }"}]}}})");
  EXPECT_FALSE(can_collapse(clustered(shifted), {0, {0, 1}}));
}

}  // namespace
}  // namespace tc::polyhedral
