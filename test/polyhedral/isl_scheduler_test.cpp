#include "tc/polyhedral/schedule/isl_scheduler.h"

#include "tc/options/mapping_options.h"
#include "test/polyhedral/mapping_passes_fixture.h"

namespace tc::polyhedral {
namespace {

using namespace build;

class IslScheduler : public MappingPassTest {
 protected:
  /// x(t, i) of x(t - 1, i + 1).
  Scop skewed_steps() const {
    auto scop = ScopBuilder(context())
                    .output("x", {20, 20})
                    .statement("S[t, i] : 1 <= t < 20 and 0 <= i < 19", "x[t, i]", {"x[t - 1, i + 1]"})
                    .scop();
    scop.tensor("x").live_in = true;
    return scop;
  }
  std::optional<isl::schedule> found(const Scop& scop, const std::string& options = "") const {
    auto dependences = compute_dependences(scop);
    std::vector<int> all;
    for (std::size_t i = 0; i < scop.statements.size(); ++i) all.push_back(static_cast<int>(i));
    return schedule_with_isl(StatementGraph(scop, dependences), all, dependences,
                             options::MappingOptions::parse(options).values());
  }
  Rows rows(const Scop& scop, const isl::schedule& schedule, const std::string& options = "") const {
    std::vector<int> all;
    for (std::size_t i = 0; i < scop.statements.size(); ++i) all.push_back(static_cast<int>(i));
    return coincident_rows(schedule, StatementGraph(scop, compute_dependences(scop)), all,
                           options::MappingOptions::parse(options).values());
  }
  /// S[i, j] and T[i, j], of which T reads what S writes one row before.
  Scop shifted() const {
    return ScopBuilder(context())
        .input("A", {8, 8})
        .temporary("t", {8, 8})
        .output("B", {9, 8})
        .statement("S[i, j] : 0 <= i, j < 8", "t[i, j]", {"A[i, j]"})
        .statement("T[i, j] : 1 <= i < 9 and 0 <= j < 8", "B[i, j]", {"t[i - 1, j]"})
        .scop();
  }
};

TEST_F(IslScheduler, SkewsWhatIsPermutableOnlySo) {
  auto schedule = found(skewed_steps());
  ASSERT_TRUE(schedule);
  auto band = schedule->root().child(0).as<isl::schedule_node_band>();
  EXPECT_EQ(band.n_member(), 2u);
  EXPECT_TRUE(band.permutable());
}

TEST_F(IslScheduler, GivesUpAtItsShareOfTheQuota) {
  EXPECT_FALSE(found(skewed_steps(), "quota=100"));
  EXPECT_TRUE(found(skewed_steps(), "quota=1000000"));
}

TEST_F(IslScheduler, RowsAreIteratorsAndConstants) {
  auto scop = shifted();
  auto instances = "{ S[i, j] : 0 <= i, j < 8; T[i, j] : 1 <= i < 9 and 0 <= j < 8 }";
  auto schedule = domain(ctx(), instances,
                         coincident_band("[{ S[i, j] -> [(i + 1)]; T[i, j] -> [(i)] }, { S[i, j] -> [(j)]; T[i, j] -> "
                                         "[(-j)] }, { S[i, j] -> [(i + j)]; T[i, j] -> [(j)] }]",
                                         3));
  auto found = rows(scop, schedule, "positive_orthant=0");
  ASSERT_EQ(found.size(), 2u) << "i + j is not one iterator";
  EXPECT_EQ(found[0].terms.at(0).iterator, 0);
  EXPECT_EQ(found[0].terms.at(0).shift, 1);
  EXPECT_EQ(found[1].terms.at(1).sign, -1);
  EXPECT_EQ(rows(scop, schedule, "positive_orthant=1").size(), 1u) << "-j runs backward";
}

TEST_F(IslScheduler, RowsEndAtTheFirstThatIsNotCoincidentOrUsesAnIteratorTwice) {
  auto scop = shifted();
  auto instances = "{ S[i, j] : 0 <= i, j < 8; T[i, j] : 1 <= i < 9 and 0 <= j < 8 }";
  auto members = "[{ S[i, j] -> [(i)]; T[i, j] -> [(i)] }, { S[i, j] -> [(j)]; T[i, j] -> [(j)] }]";
  EXPECT_EQ(rows(scop, domain(ctx(), instances, band(members, {}, {true, {1, 0}}))).size(), 1u);
  EXPECT_EQ(rows(scop, domain(ctx(), instances, band(members, {}, {true, {0, 1}}))).size(), 0u);
  auto twice = "[{ S[i, j] -> [(i)]; T[i, j] -> [(i)] }, { S[i, j] -> [(i)]; T[i, j] -> [(j)] }]";
  EXPECT_EQ(rows(scop, domain(ctx(), instances, coincident_band(twice, 2))).size(), 1u);
}

TEST_F(IslScheduler, TheOrthantIsThatOfEveryBand) {
  auto tree = [&](const char* inner) {
    return domain(ctx(), "{ S[i, j] : 0 <= i, j < 8 }", band("[{ S[i, j] -> [(i)] }]", band(inner)));
  };
  EXPECT_TRUE(in_positive_orthant(tree("[{ S[i, j] -> [(i + 2j - 3)] }]")));
  EXPECT_FALSE(in_positive_orthant(tree("[{ S[i, j] -> [(i - j)] }]")));
}

}  // namespace
}  // namespace tc::polyhedral
