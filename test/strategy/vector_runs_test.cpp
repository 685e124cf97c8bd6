#include "tc/strategy/cost/vector_runs.h"

#include <gtest/gtest.h>

#include "tc/polyhedral/core/indirect_reads.h"
#include "test/support/isl_fixture.h"
#include "test/support/scop_builder.h"

namespace tc::strategy {
namespace {

using polyhedral::Scop;
using polyhedral::ScopBuilder;

class VectorRuns : public polyhedral::IslTest {
 protected:
  /// The run along j of O(i, j) = A at \p index, i and j below 8 and 64, where rows of A have \p row elements.
  std::int64_t run(const std::string& index, std::int64_t row = 64, DType type = DType::Float32) const {
    auto scop = ScopBuilder(context())
                    .input("A", {16, row})
                    .output("O", {8, 64})
                    .statement("S[i, j] : 0 <= i < 8 and 0 <= j < 64", "O[i, j]", {index})
                    .scop();
    for (auto& tensor : scop.tensors) tensor.type = type;
    return vector_run(scop, scop.statement("S"), 1);
  }
};

TEST_F(VectorRuns, AreSixteenBytesWhereRowsBeginThere) {
  EXPECT_EQ(run("A[i, j]"), 4);
  EXPECT_EQ(run("A[i, j]", 64, DType::Float64), 2);
  EXPECT_EQ(run("A[i, j]", 64, DType::Float16), 8);
  EXPECT_EQ(run("A[i, 0]"), 4) << "one element for all";
  EXPECT_EQ(run("A[i, j + 4]", 68), 4);
  EXPECT_EQ(run("A[2i + 1, j]"), 4);
}

TEST_F(VectorRuns, BeginAtMultiplesOfAPowerOfTwo) {
  auto aligned = [&](const std::string& index, std::int64_t row) {
    auto scop = ScopBuilder(context())
                    .input("A", {16, row})
                    .output("O", {8, 64})
                    .statement("S[i, j] : 0 <= i < 8 and 0 <= j < 64", "O[i, j]", {index})
                    .scop();
    const auto& statement = scop.statement("S");
    return aligned_run(scop, polyhedral::box(statement.domain), statement.reads[0], 1, 64);
  };
  EXPECT_EQ(aligned("A[i, j]", 64), 64);
  EXPECT_EQ(aligned("A[i, j]", 128), 64) << "no more is asked";
  EXPECT_EQ(aligned("A[i, j]", 72), 8);
  EXPECT_EQ(aligned("A[i, j + 4]", 72), 4);
  EXPECT_EQ(aligned("A[i, j + 1]", 72), 1);
}

TEST_F(VectorRuns, AreSingleWhereVectorsWouldBeginElsewhere) {
  EXPECT_EQ(run("A[i, j + 1]", 68), 1);
  EXPECT_EQ(run("A[i, j]", 66), 1);
  EXPECT_EQ(run("A[0, i + j]", 72), 1);
  EXPECT_EQ(run("A[i, 2j]", 128), 1);
  EXPECT_EQ(run("A[j, i]"), 1);
  EXPECT_EQ(run("A[i, j] : j >= 1"), 1);
}

TEST_F(VectorRuns, GoAlongRowsThatDataChooses) {
  auto table = [&](const std::string& rows) {
    return ScopBuilder(context())
        .input("I", {8, 64})
        .input("T", {10, 64})
        .output("O", {8, 64})
        .statement("S[i, j] : 0 <= i < 8 and 0 <= j < 64", "O[i, j]", {"I[i, 0]"})
        .read_any(rows)
        .scop();
  };
  auto scop = table("T[r, c] : 0 <= r < 10 and 0 <= c < 64");
  scop.statement("S").reads[1].relation =
      isl::map(scop.ctx(), "{ S[i, j] -> T[r, j] : 0 <= r < 10 and 0 <= i < 8 and 0 <= j < 64 }");
  EXPECT_EQ(polyhedral::known_stride(scop, scop.statement("S").reads[1], 1), 1);
  EXPECT_EQ(polyhedral::known_stride(scop, scop.statement("S").reads[1], 0), 0);
  EXPECT_EQ(vector_run(scop, scop.statement("S"), 1), 4);
  scop.tensor("T").strides = {65, 1};
  EXPECT_EQ(vector_run(scop, scop.statement("S"), 1), 1);
}

}  // namespace
}  // namespace tc::strategy
