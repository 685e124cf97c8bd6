#include "tc/strategy/choose_reduction_parts.h"

#include <gtest/gtest.h>

#include "tc/base/str.h"
#include "test/support/isl_fixture.h"
#include "test/support/scop_builder.h"

namespace tc::strategy {
namespace {

using polyhedral::MappingOptions;
using polyhedral::Scop;
using polyhedral::ScopBuilder;

class ChooseReductionParts : public polyhedral::IslTest {
 protected:
  Scop sums(std::int64_t n, std::int64_t m, const char* index) const {
    return ScopBuilder(context())
        .input("A", {n, m})
        .output("C", {std::max(n, m)})
        .accumulate(str("U[i, k] : 0 <= i < ", n, " and 0 <= k < ", m), index, {"A[i, k]"})
        .scop();
  }
  Scop product(std::int64_t m, std::int64_t n, std::int64_t k) const {
    return ScopBuilder(context())
        .input("A", {m, k})
        .input("B", {k, n})
        .output("C", {m, n})
        .accumulate(str("U[m, n, k] : 0 <= m < ", m, " and 0 <= n < ", n, " and 0 <= k < ", k), "C[m, n]",
                    {"A[m, k]", "B[k, n]"})
        .scop();
  }
  /// C[i] = sum over k of A[k, i] x[k].
  Scop vector_by_matrix(std::int64_t n, std::int64_t m) const {
    return ScopBuilder(context())
        .input("A", {m, n})
        .input("x", {m})
        .output("C", {n})
        .accumulate(str("U[i, k] : 0 <= i < ", n, " and 0 <= k < ", m), "C[i]", {"A[k, i]", "x[k]"})
        .scop();
  }
  /// For example "U: i0 512 of 32768".
  std::string choose(const Scop& scop, const MappingOptions& options = {}, const char* target = "cuda:sm_90") const {
    std::string text;
    for (const auto& parts : choose_reduction_parts(scop, Target::parse(target), options)) {
      text += parts.statement + ":";
      for (const auto& cut : parts.cuts) text += str(" i", cut.iterator, " ", cut.count, " of ", cut.size);
    }
    return text;
  }
};

/// That x lies along the reduction does not make it one of rows: each thread has a column of A.
TEST_F(ChooseReductionParts, WhatAllResultsShareDoesNotTellARow) {
  EXPECT_NE(choose(vector_by_matrix(8192, 8192)), "");
  EXPECT_EQ(choose(vector_by_matrix(1 << 20, 8192)), "");
}

/// Nor does a vector of each batch: the rows are those of the matrix.
TEST_F(ChooseReductionParts, TheLargestOperandTellsARow) {
  const auto batches = [&](const char* matrix) {
    return ScopBuilder(context())
        .input("A", {32, 8192, 8192})
        .input("x", {32, 8192})
        .output("C", {32, 128})
        .accumulate("U[h, i, k] : 0 <= h < 32 and 0 <= i < 128 and 0 <= k < 8192", "C[h, i]", {matrix, "x[h, k]"})
        .scop();
  };
  EXPECT_EQ(choose(batches("A[h, k, i]")), "U: i2 32 of 256");
  EXPECT_EQ(choose(batches("A[h, i, k]")), "");
}

TEST_F(ChooseReductionParts, FewResultsOfMuchWorkGetParts) {
  EXPECT_EQ(choose(sums(1, 1 << 24, "C[i]")), "U: i1 512 of 32768");
  EXPECT_EQ(choose(sums(4096, 4096, "C[0]")), "U: i0 512 of 8");
  EXPECT_EQ(choose(sums(1 << 20, 64, "C[k]")), "U: i0 2048 of 512");
  EXPECT_EQ(choose(sums(8, 1 << 20, "C[i]")), "U: i1 64 of 16384");
  EXPECT_EQ(choose(product(64, 64, 65536)), "U: i2 256 of 256");
}

TEST_F(ChooseReductionParts, EnoughResultsOrLittleWorkGetNone) {
  EXPECT_EQ(choose(sums(4096, 4096, "C[i]")), "");
  EXPECT_EQ(choose(sums(64, 1 << 20, "C[k]")), "");
  EXPECT_EQ(choose(sums(1, 10000, "C[i]")), "");
  EXPECT_EQ(choose(product(1024, 1024, 1024)), "");
  EXPECT_EQ(choose(product(64, 64, 256)), "");
}

TEST_F(ChooseReductionParts, PartsNeedNotDivideTheIterator) {
  EXPECT_EQ(choose(sums(1, 1000003, "C[i]")), "U: i1 244 of 4096");
}

TEST_F(ChooseReductionParts, FewerProcessorsNeedFewerParts) {
  EXPECT_EQ(choose(sums(1, 1 << 24, "C[i]"), {}, "cuda:sm_90,multiprocessors=16"), "U: i1 64 of 262144");
}

/// The number of cores is no matter: results must not depend on it.
TEST_F(ChooseReductionParts, OnAProcessorPartsAreForThreads) {
  for (const char* target : {"cpu:avx512,cores=1", "cpu:avx512,cores=2", "cpu:avx2,cores=64"}) {
    EXPECT_EQ(choose(sums(1, 1 << 24, "C[i]"), {}, target), "U: i1 64 of 262144");
    EXPECT_EQ(choose(sums(4, 1 << 22, "C[i]"), {}, target), "U: i1 16 of 262144");
    EXPECT_EQ(choose(sums(1, 1 << 20, "C[i]"), {}, target), "");
    EXPECT_EQ(choose(sums(64, 1 << 20, "C[i]"), {}, target), "");
  }
}

TEST_F(ChooseReductionParts, OptionsDecide) {
  EXPECT_EQ(choose(sums(1, 1 << 24, "C[i]"), {.reduction_parts = 1}), "");
  EXPECT_EQ(choose(sums(1, 1 << 24, "C[i]"), {.parallel = false}), "");
  EXPECT_EQ(choose(sums(3, 10, "C[i]"), {.reduction_parts = 5}), "U: i1 5 of 2");
  EXPECT_EQ(choose(sums(4, 6, "C[0]"), {.reduction_parts = 8}), "U: i0 4 of 1 i1 2 of 3");
  EXPECT_EQ(choose(sums(1, 1 << 24, "C[i]"), {.grid = {16}}), "U: i1 16 of 1048576");
}

/// What reads its own result keeps its order.
TEST_F(ChooseReductionParts, AReductionThatReadsItsResultIsNotCut) {
  auto scop = ScopBuilder(context())
                  .input("A", {100000})
                  .output("C", {2})
                  .accumulate("U[k] : 0 <= k < 100000", "C[0]", {"A[k]", "C[1]"})
                  .scop();
  EXPECT_EQ(choose(scop, {.reduction_parts = 4}), "");
}

}  // namespace
}  // namespace tc::strategy
