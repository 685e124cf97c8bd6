#include "tc/polyhedral/core/cluster_view.h"

#include <gtest/gtest.h>

#include "tc/base/count_product.h"
#include "tc/base/str.h"
#include "tc/polyhedral/core/symbolic_box.h"
#include "test/support/isl_fixture.h"
#include "test/support/schedule_builder.h"
#include "test/support/scop_builder.h"

namespace tc::polyhedral {
namespace {

using namespace build;

class ClusterViewTest : public IslTest {
 protected:
  /// C[i, j] = 0; C[i, j] += A[i, k]; then s[] = 1, in two clusters.
  Scop scop() const {
    auto result = ScopBuilder(context())
                      .input("A", {8, 6})
                      .output("C", {8, 4})
                      .output("s", {})
                      .identity("I[i, j] : 0 <= i < 8 and 0 <= j < 4", "C[i, j]")
                      .accumulate("U[i, j, k] : 0 <= i < 8 and 0 <= j < 4 and 0 <= k < 6", "C[i, j]", {"A[i, 2k - i]"})
                      .statement("T[]", "s[]")
                      .scop();
    auto inside = sequence({{"{ I[i, j] }"}, {"{ U[i, j, k] }", band("[{ U[i, j, k] -> [(k)] }]")}});
    result.schedule = domain(
        ctx(), "{ I[i, j] : 0 <= i < 8 and 0 <= j < 4; U[i, j, k] : 0 <= i < 8 and 0 <= j < 4 and 0 <= k < 6; T[] }",
        sequence(
            {{"{ I[i, j]; U[i, j, k] }",
              coincident_band("[{ I[i, j] -> [(i)]; U[i, j, k] -> [(i)] }, { I[i, j] -> [(j)]; U[i, j, k] -> [(j)] }]",
                              2, inside)},
             {"{ T[] }"}}));
    return result;
  }
};

TEST_F(ClusterViewTest, SeesOuterMembersAndInnerLoops) {
  auto views = cluster_views(scop());
  ASSERT_EQ(views.size(), 2u);
  EXPECT_EQ(views[0].path, (std::vector<int>{0, 0, 0}));
  ASSERT_EQ(views[0].members.size(), 2u);
  EXPECT_EQ(views[0].members[1].extent(), 4);
  EXPECT_TRUE(views[0].permutable);
  ASSERT_EQ(views[0].statements.size(), 2u);
  const auto& update = views[0].statements[1];
  EXPECT_EQ(update.id, "U");
  EXPECT_EQ(update.outer, (std::vector<int>{0, 1}));
  ASSERT_EQ(update.inner.size(), 1u);
  EXPECT_EQ(update.inner[0].iterator, 2);
  EXPECT_FALSE(update.inner[0].coincident);
  EXPECT_FALSE(update.inner[0].shared);
  EXPECT_TRUE(views[1].members.empty());
}

TEST_F(ClusterViewTest, PathsLeadBackToTheirNode) {
  auto schedule = scop().schedule;
  auto band = schedule.root().child(0).child(0).child(0);
  EXPECT_EQ(path_of(node_at(schedule, path_of(band))), path_of(band));
  EXPECT_EQ(statement_ids(band).size(), 2u);
}

TEST_F(ClusterViewTest, StridesAreElementsInMemory) {
  auto s = scop();
  const auto& update = s.statement("U");
  EXPECT_EQ(stride(s, update.write, 0), 4);
  EXPECT_EQ(stride(s, update.write, 1), 1);
  EXPECT_EQ(stride(s, update.write, 2), 0);
  EXPECT_EQ(stride(s, update.reads[0], 0), 6 - 1);
  EXPECT_EQ(stride(s, update.reads[0], 2), 2);
}

TEST_F(ClusterViewTest, DataDependentAndPeriodicAccessesHaveNoStride) {
  auto s = ScopBuilder(context())
               .input("A", {8})
               .output("C", {8})
               .statement("S[i] : 0 <= i < 8", "C[i]", {"A[i mod 4]"})
               .read_any("A[x] : 0 <= x < 8")
               .scop();
  EXPECT_EQ(stride(s, s.statement("S").reads[0], 0), unknown_stride);
  EXPECT_EQ(stride(s, s.statement("S").reads[1], 0), unknown_stride);
}

TEST_F(ClusterViewTest, BlocksHaveAStrideInsideAndOneBetween) {
  auto s = ScopBuilder(context())
               .input("K", {4, 64, 16})
               .input("A", {64, 64})
               .output("C", {64, 64})
               .statement("S[i, j] : 0 <= i, j < 64", "C[i, j]",
                          {"K[floor(i/16), j, i mod 16]", "A[i, j]", "A[i, j mod 8]", "A[floor((i + 3)/16), j]",
                           "A[floor(i/16), floor(i/8)]", "A[floor((i + j)/16), j]"})
               .scop();
  auto of = [&](int read, int iterator) {
    auto found = blocked_stride(s, s.statement("S").reads[static_cast<std::size_t>(read)], iterator);
    return found ? std::vector<std::int64_t>{found->size, found->inside, found->between} : std::vector<std::int64_t>();
  };
  EXPECT_EQ(of(0, 0), (std::vector<std::int64_t>{16, 1, 64 * 16}));
  EXPECT_TRUE(of(0, 1).empty()) << "it has a stride";
  EXPECT_TRUE(of(1, 0).empty());
  EXPECT_EQ(of(2, 1), (std::vector<std::int64_t>{8, 1, 0})) << "the same eight again";
  EXPECT_TRUE(of(3, 0).empty()) << "blocks do not begin at 0";
  EXPECT_TRUE(of(4, 0).empty()) << "two sizes";
  EXPECT_TRUE(of(5, 0).empty()) << "two iterators";
}

TEST_F(ClusterViewTest, CountsInstancesUpToTheMostThatCounts) {
  auto count = [&](const std::string& domain) { return instance_count(isl::set(ctx(), "{ " + domain + " }")); };
  EXPECT_EQ(count("S[]"), 1);
  EXPECT_EQ(count("S[i, j] : 2 <= i < 5 and 0 <= j < 7"), 21);
  EXPECT_EQ(count("S[i, j] : 2 <= i < 5 and 0 <= j < 0"), 0);
  EXPECT_EQ(count("S[i, j] : 0 <= i, j < 4294967296"), most_counted);
}

TEST_F(ClusterViewTest, FindsTheOnlyIterator) {
  auto domain = set("{ S[i, j] : 0 <= i < 8 and 0 <= j < 4 }");
  auto function = [&](const char* text) { return isl::union_pw_aff(ctx(), text); };
  EXPECT_EQ(only_iterator(function("{ S[i, j] -> [(j + 3)] }"), domain), 1);
  EXPECT_EQ(only_iterator(function("{ S[i, j] -> [(floor(i/4))] }"), domain), 0);
  EXPECT_EQ(only_iterator(function("{ S[i, j] -> [(i + j)] }"), domain), -1);
  EXPECT_EQ(only_iterator(function("{ S[i, j] -> [(7)] }"), domain), -1);
  EXPECT_EQ(values(quotient(function("{ S[i, j] -> [(i)] }"), 3), domain.to_union_set()).max, 2);
  EXPECT_EQ(values(remainder(function("{ S[i, j] -> [(i)] }"), 3), domain.to_union_set()).max, 2);
}

/// { dimension: min, max, symbolic, multiple }
std::string text_of(const std::vector<Interval>& box) {
  std::string result;
  for (const auto& range : box)
    result += str("[", range.min, ",", range.max, range.symbolic ? str(" symbolic ", range.multiple) : "", "]");
  return result;
}

TEST(SymbolicBox, ReadsWhatIsWritten) {
  Context context;
  const auto read = [&](const std::string& text) {
    const auto box = symbolic_box_as_written(isl::set(context, text));
    return box ? text_of(*box) : "not written";
  };
  EXPECT_EQ(read("[size_N] -> { S[i, j] : 1 <= size_N <= 100 and 0 <= i < size_N and 2 <= j <= 8 }"),
            "[0,99 symbolic 1][2,8]");
  EXPECT_EQ(read("[size_N] -> { S[i] : 1 <= size_N <= 100 and 0 <= i < 64 * floor((size_N + 63) / 64) }"),
            "[0,127 symbolic 64]");
  EXPECT_EQ(read("[size_N, size_M] -> { S[i] : 1 <= size_N <= 9 and 2 <= size_M <= 5 and 1 <= i <= size_N + size_M }"),
            "[1,14 symbolic 1]");
  EXPECT_EQ(read("[size_N] -> { S[i, j] : 1 <= size_N <= 9 and 0 <= i < size_N and 0 <= j <= i }"), "not written");
  EXPECT_EQ(
      read("[size_N, size_M] -> { S[i] : 1 <= size_N <= 9 and 1 <= size_M <= 9 and 0 <= i < size_N and i < size_M }"),
      "not written");
  EXPECT_EQ(read("[size_N] -> { S[i] : 1 <= size_N <= 9 and size_N mod 2 = 1 and 0 <= i < size_N }"), "not written");
  EXPECT_EQ(read("[size_N] -> { S[i] : 1 <= size_N <= 9 and 0 <= i < 8 * floor((size_N + 7) / 8) - size_N }"),
            "not written");
}

TEST(SymbolicBox, KnowsMultiplesOfRounded) {
  Context context;
  // Two pieces: the union of a range and of its rounded one.
  const isl::set both(
      context,
      "[size_N] -> { S[i] : 1 <= size_N <= 100 and 0 <= i < 32 * floor((size_N + 31) / 32); S[i] : 1 <= "
      "size_N <= 100 and 0 <= i < size_N }");
  EXPECT_EQ(text_of(box(both)), "[0,127 symbolic 32]");
  EXPECT_EQ(least_extent(both, 0), 32);
  EXPECT_EQ(least_extent(isl::set(context, "{ S[i] : 3 <= i < 10 }"), 0), 7);
}

}  // namespace
}  // namespace tc::polyhedral
