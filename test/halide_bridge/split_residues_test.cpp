#include "tc/halide_bridge/rewrite/split_residues.h"

#include <gtest/gtest.h>

#include "tc/base/str.h"
#include "test/halide_bridge/lower_fixture.h"

namespace tc::halide_bridge {
namespace {

/// The launches of \p text after the pass.
std::string split(const std::string& text, const lang::SizeMap& sizes, const std::set<std::string>& kept = {}) {
  const std::string all = print(split_residues(lowered(text, sizes), kept));
  return "\n" + all.substr(all.find("launch"));
}

/// A transposed convolution of one dimension, of some stride and padding, into \p extent places.
std::string transposed(int stride, int padding, int extent, const std::string& more = "") {
  const std::string place = padding == 0 ? "h - k" : str("h + ", padding, " - k");
  return str("def f(float(H) X, float(K) W) -> (O) { O(h) +=! ", place, " >= 0 && ", place, " < ", stride, " * H && (",
             place, ") % ", stride, " == 0 ? X((", place, ") / ", stride, ") * W(k) : 0 where h in 0:", extent, more,
             " }");
}

TEST(SplitResidues, RunsOverWhatIsNotZero) {
  EXPECT_EQ(split(transposed(2, 0, 8), {{"H", 3}, {"K", 4}}),
            "\nlaunch 0\n"
            "  S0[ho in 0:4, hi in 0:2]: O((ho*2) + hi) = identity(+)\n"
            "  S1[ho in 0:4, hi in 0:2, ko in 0:2]: O((ho*2) + hi) += if_then_else(if_then_else(ko <= ho, ho <= (ko + "
            "2), false), X(ho - ko)*W((ko*2) + hi), 0.0)\n");
}

TEST(SplitResidues, APaddingTurnsTheResiduesRound) {
  EXPECT_EQ(split(transposed(2, 1, 6), {{"H", 3}, {"K", 4}}),
            "\nlaunch 0\n"
            "  S0[ho in 0:3, hi in 0:2]: O((ho*2) + hi) = identity(+)\n"
            "  S1[ho in 0:3, hi in 0:2, ko in 0:2]: O((ho*2) + hi) += if_then_else(if_then_else(ko <= (ho + hi), (ho + "
            "hi) <= (ko + 2), false), X((ho + hi) - ko)*W(((ko*2) + 1) - hi), 0.0)\n");
}

TEST(SplitResidues, RemaindersOfDifferentLengthsAreApart) {
  EXPECT_EQ(split(transposed(2, 0, 7), {{"H", 3}, {"K", 3}}),
            "\nlaunch 0\n"
            "  S0[ho in 0:4]: O(ho*2) = identity(+)\n"
            "  S1[ho in 0:4, ko in 0:2]: O(ho*2) += if_then_else(if_then_else(ko <= ho, ho <= (ko + 2), false), X(ho - "
            "ko)*W(ko*2), 0.0)\n"
            "  S2[ho in 0:3]: O((ho*2) + 1) = identity(+)\n"
            "  S3[ho in 0:3, ko in 0:1]: O((ho*2) + 1) += X(ho)*W(1)\n");
}

TEST(SplitResidues, RemaindersWithDifferentNumbersOfTermsAreApart) {
  EXPECT_EQ(split(transposed(2, 0, 2, " Y(h) = O(h) * 2"), {{"H", 3}, {"K", 3}}),
            "\nlaunch 0\n"
            "  S0[]: O(0) = identity(+)\n"
            "  S1[ko in 0:2]: O(0) += if_then_else(ko <= 0, X(0 - ko)*W(ko*2), 0.0)\n"
            "  S2[]: O(1) = identity(+)\n"
            "  S3[ko in 0:1]: O(1) += X(0)*W(1)\n"
            "  S4[]: Y(0) = O(0)*2.0\n"
            "  S5[]: Y(1) = O(1)*2.0\n");
}

TEST(SplitResidues, WhatIsLeftOverIsAStatementOfItsOwn) {
  EXPECT_EQ(split(transposed(4, 0, 7), {{"H", 2}, {"K", 4}}),
            "\nlaunch 0\n"
            "  S0[ho in 0:1, hi in 0:4]: O((ho*4) + hi) = identity(+)\n"
            "  S1[ho in 0:1, hi in 0:4, ko in 0:1]: O((ho*4) + hi) += X(ho)*W(hi)\n"
            "  S2[hi in 0:3]: O(hi + 4) = identity(+)\n"
            "  S3[hi in 0:3, ko in 0:1]: O(hi + 4) += X(1)*W(hi)\n");
}

TEST(SplitResidues, AResidueMayReadNothing) {
  EXPECT_EQ(split(transposed(4, 0, 10), {{"H", 3}, {"K", 2}}),
            "\nlaunch 0\n"
            "  S0[ho in 0:2, hi in 0:4]: O((ho*4) + hi) = identity(+)\n"
            "  S1[ho in 0:2, hi in 0:4, ko in 0:1]: O((ho*4) + hi) += if_then_else(hi <= 1, X(ho)*W(hi), 0.0)\n"
            "  S2[hi in 0:2]: O(hi + 8) = identity(+)\n"
            "  S3[hi in 0:2, ko in 0:1]: O(hi + 8) += X(2)*W(hi)\n");
}

TEST(SplitResidues, ResiduesThatAreNotLinearAreRemainders) {
  EXPECT_EQ(
      split(transposed(3, 1, 9), {{"H", 3}, {"K", 3}}),
      "\nlaunch 0\n"
      "  S0[ho in 0:3, hi in 0:3]: O((ho*3) + hi) = identity(+)\n"
      "  S1[ho in 0:3, hi in 0:3, ko in 0:1]: O((ho*3) + hi) += if_then_else(if_then_else(((hi + 1) % 3) <= (((ho*3) + "
      "hi) + 1), ((ho*3) + hi) <= (((hi + 1) % 3) + 7), false), X(ho + ((hi + 1)/3))*W((hi + 1) % 3), 0.0)\n");
}

TEST(SplitResidues, WhatIsComputedElementByElementFollows) {
  EXPECT_EQ(split(transposed(2, 0, 8, " B(h) = O(h) + 1 where h in 0:8  Y(h) = B(h) * 2 where h in 0:8"),
                  {{"H", 3}, {"K", 4}}),
            "\nlaunch 0\n"
            "  S0[ho in 0:4, hi in 0:2]: O((ho*2) + hi) = identity(+)\n"
            "  S1[ho in 0:4, hi in 0:2, ko in 0:2]: O((ho*2) + hi) += if_then_else(if_then_else(ko <= ho, ho <= (ko + "
            "2), false), X(ho - ko)*W((ko*2) + hi), 0.0)\n"
            "  S2[ho in 0:4, hi in 0:2]: B((ho*2) + hi) = O((ho*2) + hi) + 1.0\n"
            "  S3[ho in 0:4, hi in 0:2]: Y((ho*2) + hi) = B((ho*2) + hi)*2.0\n");
}

TEST(SplitResidues, LeavesOthersAlone) {
  const char* const texts[] = {
      "def f(float(H) X) -> (O) { O(h) +=! h % 2 == 0 ? X(k) : 0 where h in 0:8, k in 0:4 }",
      "def f(float(H) X) -> (O) { O(h) +=! (h - 2 * k) % 2 == 0 ? X(k) : 0 where h in 0:8, k in 0:4 }",
      "def f(float(H) X) -> (O) { O(h) +=! (h - 2 * k) % 4 == 0 ? X(k) : 0 where h in 0:8, k in 0:4 }",
      "def f(float(H) X) -> (O) { O(h) +=! (h - k - j) % 2 == 0 ? X(k) : 0 where h in 0:8, k in 0:4, j in 0:4 }",
      "def f(float(H) X) -> (O) { O(h) +=! (h - k) % 2 == 1 || k < 2 ? X(k) : 0 where h in 0:8, k in 0:4 }",
      "def f(float(H) X) -> (O) { O(h) +=! (h - k) % 2 == 0 ? X(k) : 1 where h in 0:8, k in 0:4 }",
      "def f(float(H) X) -> (O) { O(h) +=! (h - k) % 2 <= 0 ? X(k) : 0 where h in 0:8, k in 0:4 }",
      "def f(float(H) X) -> (O) { O(h) = h % 2 == 0 ? X(h / 2) : 0 where h in 0:8 }",
  };
  for (const char* text : texts)
    EXPECT_EQ(print(split_residues(lowered(text, {{"H", 4}}))), print(lowered(text, {{"H", 4}}))) << text;
  const auto plain = lowered(transposed(2, 0, 8), {{"H", 3}, {"K", 4}});
  EXPECT_EQ(print(split_residues(plain, {"h"})), print(plain));
  EXPECT_EQ(print(split_residues(plain, {"k"})), print(plain));
}

}  // namespace
}  // namespace tc::halide_bridge
