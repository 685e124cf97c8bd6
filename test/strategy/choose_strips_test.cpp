#include "tc/strategy/cpu/choose_strips.h"

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

class ChooseStrips : public polyhedral::IslTest {
 protected:
  static constexpr const char* processor = "cpu:avx512,-amx,cores=2,l1=32k,l2=1m,l3=16m";

  /// s(h, i, j) = sum of Q(h, i, d) * K(h, j, d), O(h, i, d) = sum of s(h, i, j) * V(h, j, d).
  Scop products(std::int64_t heads, std::int64_t rows, std::int64_t columns, std::int64_t depth) const {
    const auto hi = str("0 <= h < ", heads, " and 0 <= i < ", rows), j = str(" and 0 <= j < ", columns),
               d = str(" and 0 <= d < ", depth);
    return ScopBuilder(context())
        .input("Q", {heads, rows, depth})
        .input("K", {heads, columns, depth})
        .input("V", {heads, columns, depth})
        .temporary("s", {heads, rows, columns})
        .output("O", {heads, rows, depth})
        .identity(str("I[h, i, j] : ", hi, j), "s[h, i, j]")
        .accumulate(str("S[h, i, j, d] : ", hi, j, d), "s[h, i, j]", {"Q[h, i, d]", "K[h, j, d]"})
        .identity(str("J[h, i, d] : ", hi, d), "O[h, i, d]")
        .accumulate(str("T[h, i, d, j] : ", hi, j, d), "O[h, i, d]", {"s[h, i, j]", "V[h, j, d]"})
        .scop();
  }
  /// For example "0: 0 1, 0 1; 128 of 1": the first cluster, the shared members of each, the size and what is cut.
  std::string choose(Scop scop, const MappingOptions& options = {}, const char* target = processor) const {
    const auto dependences = polyhedral::compute_dependences(scop);
    ChooseFusion criterion(scop, Target::parse(target), options);
    scop.schedule = polyhedral::compute_schedule(scop, dependences, options, &criterion);
    std::string text;
    for (const auto& strips : choose_strips(scop, dependences, Target::parse(target), options)) {
      std::vector<std::string> loops;
      for (const auto& members : strips.loops) loops.push_back(join(members, " "));
      text += str(strips.first, ": ", join(loops), "; ", strips.size, " of ", strips.cut);
    }
    return text;
  }
};

TEST_F(ChooseStrips, TemporariesOfAStripFillTheCache) {
  EXPECT_EQ(choose(products(8, 1024, 1024, 64)), "0: 0 1, 0 1; 256 of 1");
  EXPECT_EQ(choose(products(8, 4096, 4096, 64)), "0: 0 1, 0 1; 128 of 1") << "rows that share a copy";
  EXPECT_EQ(choose(products(12, 1009, 1000, 64)), "0: 0 1, 0 1; 256 of 1") << "the last strip is shorter";
}

TEST_F(ChooseStrips, StripsRunOnThreadsWhereHeadsDoNot) {
  EXPECT_EQ(choose(products(1, 4096, 1024, 64)), "0: 1 0, 1 0; 256 of 0");
}

TEST_F(ChooseStrips, WhatFitsTheCacheStaysApart) { EXPECT_EQ(choose(products(2, 128, 128, 64)), ""); }

/// Each strip would read all of the second factor again.
TEST_F(ChooseStrips, LargeFactorsStayApart) { EXPECT_EQ(choose(products(1, 512, 4096, 4096)), ""); }

TEST_F(ChooseStrips, OptionsMayForbidThem) {
  const auto scop = products(8, 1024, 1024, 64);
  EXPECT_EQ(choose(scop, {.fusion = polyhedral::FusionStrategy::Min}), "");
  EXPECT_EQ(choose(scop, {.parallel = false}), "");
  EXPECT_EQ(choose(scop, {}, "cuda:sm_90"), "");
}

}  // namespace
}  // namespace tc::strategy
