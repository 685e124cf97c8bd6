#include "tc/strategy/choose_padding.h"

#include <gtest/gtest.h>

#include "tc/base/str.h"
#include "test/support/isl_fixture.h"
#include "test/support/scop_builder.h"

namespace tc::strategy {
namespace {

using polyhedral::Scop;
using polyhedral::ScopBuilder;

class ChoosePadding : public polyhedral::IslTest {
 protected:
  Scop product(std::int64_t m, std::int64_t n, std::int64_t k, DType type) const {
    const auto mn = str("0 <= m < ", m, " and 0 <= n < ", n);
    auto scop = ScopBuilder(context())
                    .input("A", {m, k})
                    .input("B", {k, n})
                    .output("C", {m, n})
                    .identity("I[m, n] : " + mn, "C[m, n]")
                    .accumulate(str("U[m, n, k] : ", mn, " and 0 <= k < ", k), "C[m, n]", {"A[m, k]", "B[k, n]"})
                    .scop();
    scop.statement("U").product = true;
    for (const char* operand : {"A", "B"}) scop.tensor(operand).type = type;
    return scop;
  }
  /// The copies and the sizes that they are made for, "A B 2048x2048x2048"; "" for none.
  static std::string choose(const Scop& scop, const char* target = "cuda:sm_90") {
    auto chosen = choose_padding(scop, Target::parse(target), {});
    if (chosen.empty()) return "";
    std::vector<std::string> words, sizes;
    for (int read : chosen.at(0).reads) words.push_back(read == 0 ? "A" : "B");
    for (auto multiple : chosen.at(0).multiples) sizes.push_back(str(multiple));
    return str(join(words, " "), " ", join(sizes, "x"));
  }
};

TEST_F(ChoosePadding, RowsThatBeginBetweenVectorsAreCopied) {
  EXPECT_EQ(choose(product(2047, 2047, 2047, DType::Float32)), "A B 128x128x32");
  EXPECT_EQ(choose(product(2048, 2048, 2047, DType::Float32)), "A B 128x128x32") << "zeros along k in both";
  EXPECT_EQ(choose(product(2048, 2047, 2048, DType::Float32)), "B 128x128x32");
  EXPECT_EQ(choose(product(2048, 2048, 2048, DType::Float32)), "");
}

TEST_F(ChoosePadding, UnitsForMatricesWantWholeTiles) {
  EXPECT_EQ(choose(product(1000, 3000, 704, DType::BFloat16)), "A B 128x128x32");
  EXPECT_EQ(choose(product(1000, 3000, 704, DType::Float32)), "") << "multiply-adds have code for borders";
  EXPECT_EQ(choose(product(64, 192, 704, DType::BFloat16)), "");
}

TEST_F(ChoosePadding, WhatIsReadSeldomOrMostlyZerosIsNot) {
  EXPECT_EQ(choose(product(2047, 7, 2047, DType::Float32)), "");
  EXPECT_EQ(choose(product(65, 65, 2047, DType::Float32)), "") << "a quarter of the products are not of zeros";
  EXPECT_EQ(choose(product(2047, 2047, 2047, DType::Float32), "cpu:avx2"), "");
}

}  // namespace
}  // namespace tc::strategy
