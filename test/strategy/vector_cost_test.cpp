#include "tc/strategy/cost/vector_cost.h"

#include <gtest/gtest.h>

#include "test/support/isl_fixture.h"
#include "test/support/scop_builder.h"

namespace tc::strategy {
namespace {

using polyhedral::ScopBuilder;

class VectorCost : public polyhedral::IslTest {
 protected:
  polyhedral::Scop scop(const std::string& write, const std::vector<std::string>& reads) const {
    return ScopBuilder(context())
        .input("A", {100, 100})
        .output("C", {100, 100})
        .statement("S[i, j] : 0 <= i < 100 and 0 <= j < 100", write, reads)
        .scop();
  }
  int best(const std::string& write, const std::vector<std::string>& reads) const {
    auto s = scop(write, reads);
    return best_vector(s, s.statement("S"), {0, 1}, Target::parse("cpu:avx512")).iterator;
  }
};

TEST_F(VectorCost, PrefersContiguousAccesses) {
  EXPECT_EQ(best("C[i, j]", {"A[i, j]"}), 1);
  EXPECT_EQ(best("C[j, i]", {"A[j, i]"}), 0);
  EXPECT_EQ(best("C[i, j]", {"A[0, i]", "A[i, 0]"}), 1);
}

TEST_F(VectorCost, AGatherOnOneSideCostsLessThanOnTwo) {
  EXPECT_EQ(best("C[i, j]", {"A[j, i]", "A[j, i + 1]", "A[j + 1, i]"}), 0);
  EXPECT_EQ(best("C[i, j]", {"A[j, i]", "A[2, j]", "A[4, j]"}), 1);
}

TEST_F(VectorCost, NothingContiguousStaysScalar) { EXPECT_EQ(best("C[2i - j, 0]", {"A[j, 2i]"}), -1); }

TEST_F(VectorCost, LanesFollowTheWidestTypeAndTheExtent) {
  auto s = scop("C[i, j]", {"A[i, j]"});
  const auto& statement = s.statement("S");
  EXPECT_EQ(vector_lanes(s, statement, Target::parse("cpu:avx512")), 16);
  EXPECT_EQ(vector_lanes(s, statement, Target::parse("cpu:avx2")), 8);
  s.tensor("A").type = DType::Float64;
  EXPECT_EQ(vector_lanes(s, statement, Target::parse("cpu:avx512")), 8);
  s.tensor("A").type = s.tensor("C").type = DType::Float16;
  EXPECT_EQ(vector_lanes(s, statement, Target::parse("cpu:avx512")), 16);
  s.tensor("A").type = s.tensor("C").type = DType::Int8;
  EXPECT_EQ(vector_lanes(s, statement, Target::parse("cpu:avx512")), 64);
}

TEST_F(VectorCost, LanesDoNotFollowIntegersThatAreTheSameInAllOfThem) {
  auto s = scop("C[i, j]", {"A[i, 0]"});
  const auto& statement = s.statement("S");
  s.tensor("A").type = DType::Int64;
  EXPECT_EQ(vector_lanes(s, statement, Target::parse("cpu:avx512"), 0), 8);
  EXPECT_EQ(vector_lanes(s, statement, Target::parse("cpu:avx512"), 1), 16);
  EXPECT_EQ(best_vector(s, statement, {1}, Target::parse("cpu:avx512")).lanes, 16);
  s.tensor("A").type = DType::Float64;
  EXPECT_EQ(vector_lanes(s, statement, Target::parse("cpu:avx512"), 1), 8);
}

TEST_F(VectorCost, VectorsThatCrossCacheLinesCostTwoAccesses) {
  auto cost = [&](std::int64_t row, const char* target) {
    auto s = ScopBuilder(context())
                 .input("A", {8, row})
                 .output("C", {64})
                 .statement("S[i, j] : 0 <= i < 8 and 0 <= j < 64", "C[i]", {"A[i, j]"})
                 .scop();
    return best_vector(s, s.statement("S"), {1}, Target::parse(target)).cost;
  };
  EXPECT_DOUBLE_EQ(cost(66, "cpu:avx512") - cost(64, "cpu:avx512"), 1.0 / 16);
  EXPECT_DOUBLE_EQ(cost(66, "cpu:avx2") - cost(64, "cpu:avx2"), 0.5 / 8) << "every second one crosses";
}

TEST_F(VectorCost, ShortLoopsGetFewerLanes) {
  auto s =
      ScopBuilder(context()).output("C", {9, 3}).statement("S[i, j] : 0 <= i < 9 and 0 <= j < 3", "C[i, j]").scop();
  EXPECT_EQ(best_vector(s, s.statement("S"), {1}, Target::parse("cpu:avx512")).lanes, 4);
}

}  // namespace
}  // namespace tc::strategy
