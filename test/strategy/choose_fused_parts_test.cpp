#include "tc/strategy/cpu/choose_fused_parts.h"

#include <gtest/gtest.h>

#include "tc/base/str.h"
#include "tc/polyhedral/schedule/schedule.h"
#include "tc/strategy/cpu/choose_fusion.h"
#include "test/support/isl_fixture.h"
#include "test/support/scop_builder.h"

namespace tc::strategy {
namespace {

using polyhedral::MappingOptions;
using polyhedral::Scop;
using polyhedral::ScopBuilder;

class ChooseFusedParts : public polyhedral::IslTest {
 protected:
  static constexpr const char* processor = "cpu:avx512,-amx,cores=2,l1=32k,l2=1m,l3=16m";

  /// m(n) = sum of A(n, c), C(c) = sum of A(n, c) * m(n).
  Scop rows_and_columns(std::int64_t n, std::int64_t c) const {
    auto nc = str("0 <= n < ", n, " and 0 <= c < ", c);
    return ScopBuilder(context())
        .input("A", {n, c})
        .output("m", {n})
        .output("C", {c})
        .identity(str("J[n] : 0 <= n < ", n), "m[n]")
        .accumulate(str("S[n, c] : ", nc), "m[n]", {"A[n, c]"})
        .identity(str("I[c] : 0 <= c < ", c), "C[c]")
        .accumulate(str("U[c, n] : ", nc), "C[c]", {"A[n, c]", "m[n]"})
        .scop();
  }
  /// For example "0.0 of 64: U i1": the cluster and its member, the size, the reductions and what is cut of them.
  std::string choose(Scop scop, const MappingOptions& options = {}, const char* target = processor) const {
    auto dependences = polyhedral::compute_dependences(scop);
    ChooseFusion criterion(scop, Target::parse(target), options);
    scop.schedule = polyhedral::compute_schedule(scop, dependences, options, &criterion);
    std::string text;
    for (const auto& parts : choose_fused_parts(scop, dependences, Target::parse(target), options)) {
      text += str(parts.cluster, ".", parts.member, " of ", parts.size, ":");
      for (const auto& reduction : parts.reductions) text += str(" ", reduction.statement, " i", reduction.iterator);
    }
    return text;
  }
};

TEST_F(ChooseFusedParts, SumsAlongRowsAndColumnsReadLargeTensorsOnce) {
  EXPECT_EQ(choose(rows_and_columns(4096, 2048)), "0.0 of 64: U i1");
  EXPECT_EQ(choose(rows_and_columns(4000, 2048)), "0.0 of 80: U i1") << "a size that divides";
  EXPECT_EQ(choose(rows_and_columns(4001, 2048)), "0.0 of 63: U i1") << "a prime";
}

TEST_F(ChooseFusedParts, FewRowsHaveNoParts) {
  EXPECT_EQ(choose(rows_and_columns(48, 1 << 16)), "");
  EXPECT_EQ(choose(rows_and_columns(16, 16)), "");
}

TEST_F(ChooseFusedParts, OptionsMayKeepReductionsWhole) {
  EXPECT_EQ(choose(rows_and_columns(4096, 2048), MappingOptions{.reduction_parts = 1}), "");
  EXPECT_EQ(choose(rows_and_columns(4096, 2048), MappingOptions{.fusion = polyhedral::FusionStrategy::Min}), "");
  EXPECT_EQ(choose(rows_and_columns(4096, 2048), {}, "cuda:sm_90"), "");
}

/// The gradients of a product: both factors' are products with tiles of their own.
TEST_F(ChooseFusedParts, ProductsKeepTheirTiles) {
  auto scop = ScopBuilder(context())
                  .input("D", {512, 512})
                  .input("A", {512, 512})
                  .input("B", {512, 512})
                  .output("P", {512, 512})
                  .output("Q", {512, 512})
                  .identity("I[m, k] : 0 <= m, k < 512", "P[m, k]")
                  .accumulate("S[m, k, n] : 0 <= m, k, n < 512", "P[m, k]", {"D[m, n]", "B[k, n]"})
                  .identity("J[k, n] : 0 <= k, n < 512", "Q[k, n]")
                  .accumulate("T[k, n, m] : 0 <= k, n, m < 512", "Q[k, n]", {"D[m, n]", "A[m, k]"})
                  .scop();
  EXPECT_EQ(choose(scop), "");
}

}  // namespace
}  // namespace tc::strategy
