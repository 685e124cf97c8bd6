#include "tc/strategy/construct/nest_moves.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tc/base/str.h"
#include "tc/polyhedral/laws/verify.h"
#include "tc/polyhedral/map_cpu/check_cpu_nest.h"
#include "tc/polyhedral/map_cpu/map_to_cpu.h"
#include "tc/polyhedral/nest/check_nest.h"
#include "tc/polyhedral/nest/nest_text.h"
#include "tc/polyhedral/schedule/schedule.h"
#include "tc/strategy/construct/construct.h"
#include "test/support/isl_fixture.h"
#include "test/support/scop_builder.h"
#include "test/support/simulate.h"

namespace tc::strategy::nest_moves_test {
namespace {

using polyhedral::Nest;
using polyhedral::Scop;
using polyhedral::ScopBuilder;

class NestMoves : public polyhedral::IslTest {
 protected:
  NestMoves() { take(21, 18, 5); }

  /// The product of matrices of these sizes.
  void take(int m, int n, int k) {
    const auto ij = str("0 <= i < ", m, " and 0 <= j < ", n);
    program_ = ScopBuilder(context())
                   .input("A", {m, k})
                   .input("B", {k, n})
                   .output("C", {m, n})
                   .identity("I[i, j] : " + ij, "C[i, j]")
                   .accumulate(str("U[i, j, k] : ", ij, " and 0 <= k < ", k), "C[i, j]", {"A[i, k]", "B[k, j]"})
                   .scop();
    scheduled_ = program_;
    dependences_.emplace(polyhedral::compute_dependences(program_));
    scheduled_.schedule = polyhedral::compute_schedule(program_, *dependences_, {});
    clustered_ = polyhedral::clustered(scheduled_);
    names_ = polyhedral::nest_names(clustered_.scop, clustered_.clusters.at(0));
  }

  Nest nest(const std::string& text) const { return polyhedral::parse_nest(text, names_); }
  std::vector<std::string> beside(const std::string& text) const {
    std::vector<std::string> result;
    for (const auto& each : nests_beside(nest_space(clustered_.scop, clustered_.clusters.at(0)), nest(text)))
      result.push_back(to_string(each, names_));
    return result;
  }
  bool leads_to(const std::string& text, const std::string& other) const {
    const auto found = beside(text);
    return std::find(found.begin(), found.end(), to_string(nest(other), names_)) != found.end();
  }

  Scop program_, scheduled_;
  std::optional<polyhedral::Dependences> dependences_;
  polyhedral::ClusteredScop clustered_;
  polyhedral::NestNames names_;
};

/// A nest of the product with \p trunk, which leaves points of 2 x 4.
std::string with_trunk(const std::string& trunk) {
  return str("nest of I, U\n", trunk, "\nI: i%2 unrolled  j%4 lanes\nU: k  i%2 unrolled  j%4 lanes");
}

TEST_F(NestMoves, AreCutsJoinsSizesSwapsAndLifts) {
  const auto two = with_trunk("i/8\ncopy B of U in panels of 4 j, 4 lanes\ni%8/2\nj/4");
  EXPECT_TRUE(leads_to(two, with_trunk("i/8\ncopy B of U in panels of 4 j, 4 lanes\ni%8/4\ni%4/2\nj/4")));
  EXPECT_TRUE(leads_to(two, with_trunk("i/8\ncopy B of U in panels of 4 j, 4 lanes\ni%8/2\nj/8\nj%8/4")));
  EXPECT_TRUE(leads_to(two, with_trunk("copy B of U in panels of 4 j, 4 lanes\ni/2\nj/4")));
  EXPECT_TRUE(leads_to(two, with_trunk("i/4\ncopy B of U in panels of 4 j, 4 lanes\ni%4/2\nj/4")));
  EXPECT_TRUE(leads_to(two, with_trunk("i/16\ncopy B of U in panels of 4 j, 4 lanes\ni%16/2\nj/4")));
  EXPECT_TRUE(leads_to(two, with_trunk("i/8\ncopy B of U in panels of 4 j, 4 lanes\nj/4\ni%8/2")));
  EXPECT_TRUE(leads_to(two, with_trunk("i/8\ni%8/2\ncopy B of U in panels of 4 j, 4 lanes\nj/4")));
  EXPECT_TRUE(leads_to(two, with_trunk("copy B of U in panels of 4 j, 4 lanes\ni/8\ni%8/2\nj/4")));
}

TEST_F(NestMoves, LeaveTheLoopOnCores) {
  for (const auto& text : beside(with_trunk("i/2 on cores\nj/4")))
    EXPECT_NE(text.find("i/2 on cores\n"), std::string::npos) << text;
}

/// Two moves from a nest with all that moves meet: each nest is legal, keeps the laws and computes the same.
TEST_F(NestMoves, LeadToNestsThatComputeTheSame) {
  const auto& cluster = clustered_.clusters.at(0);
  const auto space = nest_space(clustered_.scop, cluster);
  std::vector<Nest> nests{
      nest(with_trunk("i/8\nU.k/2 with private sums\ncopy B of U in panels of 4 j, 4 lanes\ni%8/2\nj/4"))};
  nests.front().branches[1].loops.front().digit.mod = 2;
  for (const auto& one : nests_beside(space, nest(with_trunk("copy A of U in rows of 2 i, 4 lanes\ni/2\nj/8\nj%8/4"))))
    for (const auto& each : nests_beside(space, one)) nests.push_back(each);
  int run = 0;
  for (std::size_t i = 0; i < nests.size(); i += i == 0 ? 1 : 3) {
    const auto text = to_string(nests[i], names_);
    ASSERT_NO_THROW(check_nest(clustered_.scop, cluster, names_, nests[i])) << text;
    ASSERT_NO_THROW(check_cpu_nest(clustered_.scop, cluster, names_, nests[i])) << text;
    const auto mapped = map_to_cpu(clustered_, std::vector<Nest>{nests[i]}, 1 << 16);
    ASSERT_NO_THROW(polyhedral::verify(mapped, *dependences_)) << text;
    ASSERT_EQ(polyhedral::simulate(mapped), polyhedral::simulate(program_)) << text;
    ++run;
  }
  EXPECT_GT(run, 20);
}

TEST_F(NestMoves, ADescentEndsWhereNoMoveIsCheaper) {
  take(1024, 1024, 1024);
  const PricedCluster priced(clustered_.scop, clustered_.clusters.at(0), Target::parse("cpu:avx512,cores=2"));
  const auto begin = nest(with_trunk("j/4\ni/2\ncopy B of U in panels of 4 j, 4 lanes"));
  const auto found = descend(priced, begin, 0);
  EXPECT_LT(found.price.seconds, price(priced, begin, 0).seconds);
  for (const auto& each : nests_beside(priced.nests, found.nest))
    EXPECT_GE(price(priced, each, 0).seconds, found.price.seconds * (1 - least_difference)) << to_string(each, names_);
}

}  // namespace
}  // namespace tc::strategy::nest_moves_test
