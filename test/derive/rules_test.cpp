#include <gtest/gtest.h>

#include "tc/base/str.h"
#include "tc/derive/form/isl_text.h"
#include "tc/derive/form/to_def.h"
#include "tc/derive/proof/check.h"
#include "tc/derive/rules/change_layout.h"
#include "tc/derive/rules/factor_sum.h"
#include "tc/derive/rules/fuse.h"
#include "tc/derive/rules/join_sums.h"
#include "tc/derive/rules/merge_expressions.h"
#include "tc/derive/rules/merge_sums.h"
#include "tc/derive/rules/merge_traversals.h"
#include "tc/derive/rules/move_bounds.h"
#include "tc/derive/rules/reassociate.h"
#include "tc/derive/rules/split_expression.h"
#include "tc/derive/rules/split_summation.h"
#include "tc/derive/rules/substitute_variables.h"
#include "test/derive/derive_fixture.h"

namespace tc::test {
namespace {

using derive::Program;
using derive::Step;

/// The statements of \p program, a line each, without ranges.
std::string lines_of(const Program& program) {
  std::string result;
  for (const auto& scope : program.scopes) {
    auto line = derive::to_text(program, *scope);
    result += line.substr(0, line.find(" where ")) + "\n";
  }
  return result;
}

/// What \p step made of \p before: proved by its certificate, also as text, and equal on integers.
std::string proved(const Program& before, const Step& step) {
  const auto text = derive::to_text(step.after);
  const auto verdict = derive::check(before, step.after, step.certificate);
  EXPECT_TRUE(verdict.equal) << verdict.why << "\n" << text << derive::to_string(step.certificate);
  const auto parsed = derive::parse_certificate(derive::to_string(step.certificate), before.context);
  const auto first = program_of(derive::to_text(before), before.context), second = program_of(text, before.context);
  const auto again = derive::check(first, second, parsed);
  EXPECT_TRUE(again.equal) << again.why << "\n" << text;
  const auto difference = integer_difference(derive::to_text(before), text);
  EXPECT_FALSE(difference) << *difference << "\n" << text;
  return lines_of(step.after);
}

/// Is \p wrong, in place of what \p step made, refused by the same certificate?
bool refuses(const Program& before, const Step& step, const std::string& wrong) {
  return !derive::check(before, program_of(wrong, before.context), step.certificate).equal;
}

TEST(SplitSummation, TheInnerSumIsATensor) {
  const auto before = program_of("def f(float(3,4,5) A, float(4,5) B) -> (O) { O(x) +=! A(x,r,c) * B(r,c) }");
  const auto step = derive::split_summation(before, "O", {2});
  EXPECT_EQ(proved(before, step), "T(r, x) +=! A(x, r, c) * B(r, c)\nO(x) +=! T(r, x)\n");
  EXPECT_TRUE(refuses(before, step,
                      "def f(float(3,4,5) A, float(4,5) B) -> (O) { T(r, x) +=! A(x, r, c) * B(r, c) where c in 0:4  "
                      "O(x) +=! T(r, x) }"));
  EXPECT_EQ(refusal([&] { derive::split_summation(before, "O", {1, 2}); }),
            "some summed iterators are to be split off");
}

TEST(SplitSummation, AnySemiringWithItsOwnSum) {
  const auto before = program_of("def f(float(3,4,5) A) -> (O) { O(x) max=! A(x,r,c) + 1 }");
  const auto step = derive::split_summation(before, "O", {1});
  EXPECT_EQ(proved(before, step), "T(c, x) max=! A(x, r, c) + 1\nO(x) max=! T(c, x)\n");
  EXPECT_TRUE(refuses(before, step, "def f(float(3,4,5) A) -> (O) { T(c, x) max=! A(x, r, c) + 1  O(x) +=! T(c, x) }"));
}

TEST(SubstituteVariables, AWindowIsTraversedByItsIndex) {
  const auto before =
      program_of("def f(float(9) X, float(3) W) -> (O) { T(r, h) = X(h + r) * W(r)  O(h) +=! T(r, h) }");
  const auto steps = derive::substitutions(before);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(
      proved(before, steps[0]),
      "T1(r, t_h) = t_h - r >= 0 && r - t_h >= -6 ? X(t_h) * W(r) : 0\nT(r, h) = T1(r, r + h)\nO(h) +=! T(r, h)\n");
  EXPECT_TRUE(refuses(
      before, steps[0],
      "def f(float(9) X, float(3) W) -> (O) { T1(r, t) = t - r >= 0 && r - t >= -6 ? X(t) * W(r) : 0 where t in "
      "0:9, r in 0:3  T(r, h) = T1(r, h) where h in 0:7  O(h) +=! T(r, h) }"));
}

TEST(SubstituteVariables, DomainsNeedNotBeBoxes) {
  const auto before = program_of(
      "def f(float(19) X, float(3) W) -> (O) { T(r, h) = X(2 * h + r) * W(r) where h in 0:8  O(h) +=! T(r, h) }");
  const auto steps = derive::substitutions(before);
  ASSERT_EQ(steps.size(), 1u);
  const auto text = proved(before, steps[0]);
  EXPECT_NE(text.find("X(t_h)"), std::string::npos) << text;
}

TEST(SubstituteVariables, WhatIsNotInjectiveIsRefused) {
  const auto before =
      program_of("def f(float(9) X) -> (O) { T(r, h) = X(h + r) where r in 0:3, h in 0:7  O(h) +=! T(r, h) }");
  const auto phi = derive::function(*before.context, 2, {"i0 + i1"});
  EXPECT_EQ(refusal([&] { derive::substitute_variables(before, "T", phi, {"t"}); }),
            "the substitution is not injective");
}

TEST(SplitIterator, ASummedIteratorInPlace) {
  const auto before = program_of("def f(float(9) X, float(5) W) -> (O) { O(h) +=! X(h + r) * W(r) }");
  const auto step = derive::split_iterator(before, "O", 1, 3);
  EXPECT_EQ(proved(before, step),
            "O(h) +=! h + 3 * r1 + r0 < 9 && 3 * r1 + r0 < 5 ? X(h + 3 * r1 + r0) * W(3 * r1 + r0) : 0\n");
  EXPECT_TRUE(refuses(before, step,
                      "def f(float(9) X, float(5) W) -> (O) { O(h) +=! X(h + 3 * r1 + r0) * W(3 * r1 + r0) where r1 in "
                      "0:1, r0 in 0:3, h in 0:5 }"));
}

TEST(SplitIterator, AnOutputByItsResidue) {
  const auto before = program_of("def f(float(12) X, float(3) W) -> (O) { O(h) +=! X(h + 2 * r) * W(r) }");
  const auto step = derive::split_iterator(before, "O", 0, 2);
  proved(before, step);
  EXPECT_TRUE(
      refuses(before, step, "def f(float(12) X, float(3) W) -> (O) { O(h) +=! X(h + r) * W(r) where h in 0:8 }"));
}

TEST(SplitIterator, FactorsComeFromTheSubscripts) {
  const auto count = [](const char* text) { return derive::iterator_splits(program_of(text)).size(); };
  EXPECT_EQ(count("def f(float(9) X, float(5) W) -> (O) { O(h) +=! X(h + r) * W(r) }"), 2u);     // 5 as 3 * 2, 2 * 3
  EXPECT_EQ(count("def f(float(9,5) X, float(5) W) -> (O) { O(h) +=! X(h, r) * W(r) }"), 0u);    // no window
  EXPECT_EQ(count("def f(float(12) X, float(8) W) -> (O) { O(h) +=! X(h + r) * W(r) }"), 3u);    // 8 and 9
  EXPECT_GE(count("def f(float(20) X, float(5) W) -> (O) { O(h) +=! X(2*h + r) * W(r) }"), 1u);  // the stride
}

TEST(SplitIterator, OfADimensionOfAnyLength) {
  const auto before = program_of(
      "def f(float(1099511627778) X, float(1099511627776) W) -> (O) { O(h) +=! X(h + r) * W(r) where h in 0:3 }");
  EXPECT_GE(derive::iterator_splits(before).size(), 32u) << "2 to 2^16, and the rest of each";
}

TEST(MergeTraversals, ASumIsWrittenOut) {
  const auto before =
      program_of("def f(float(3,4,5) A, float(4) B) -> (O) { T(r,x) +=! A(x,r,c)  O(x) +=! T(r,x) * B(r) }");
  const auto step = derive::merge_traversals(before, "T");
  EXPECT_EQ(proved(before, step), "O(x) +=! A(x, r, c) * B(r)\n");
  EXPECT_TRUE(
      refuses(before, step, "def f(float(3,4,5) A, float(4) B) -> (O) { O(x) +=! A(x, r, c) * B(r) where r in 1:4 }"));
}

TEST(MergeTraversals, WhatReadsAMaximumBecomesOne) {
  const auto before = program_of("def f(float(3,4) A, float(3) b) -> (O) { T(x) max=! A(x,r)  O(x) = T(x) + b(x) }");
  EXPECT_EQ(proved(before, derive::merge_traversals(before, "T")), "O(x) max=! A(x, r) + b(x)\n");
}

TEST(MergeTraversals, NotThroughAFunction) {
  const auto before = program_of("def f(float(3,4) A) -> (O) { T(x) +=! A(x,r)  O(x) = exp(T(x)) }");
  EXPECT_EQ(refusal([&] { derive::merge_traversals(before, "T"); }),
            "'T' is a reduction, and no factor where it is read");
  const auto other = program_of("def f(float(3,4) A) -> (O) { T(x,r) max=! A(x,r) where k in 0:2  O(x) +=! T(x,r) }");
  EXPECT_EQ(refusal([&] { derive::merge_traversals(other, "T"); }),
            "'T' is reduced by another operator than what reads it");
}

TEST(Fuse, PaddingGoesIntoWhatReadsIt) {
  const auto before = program_of(
      "def f(float(7) X, float(3) W) -> (O) {\n"
      "  P(i) = i >= 1 && i <= 7 ? X(i - 1) : 0 where i in 0:9\n  O(h) +=! P(h + k) * W(k) }");
  const auto step = derive::fuse(before, "P");
  EXPECT_EQ(proved(before, step), "O(h) +=! h + k - 1 >= 0 && h + k - 1 < 7 ? X(h + k - 1) * W(k) : 0\n");
  EXPECT_TRUE(refuses(before, step,
                      "def f(float(7) X, float(3) W) -> (O) { O(h) +=! h + k >= 2 && h + k < 8 ? X(h + k - 1) * W(k) : "
                      "0 where h in 0:7 }"));
}

TEST(Fuse, AFunctionOfElementsToo) {
  const auto before =
      program_of("def f(float(7) X, float(3) W) -> (O) { P(i) = abs(X(i)) + 1  O(h) +=! P(h + k) * W(k) }");
  proved(before, derive::fuse(before, "P"));
}

TEST(MoveBounds, RelaxedThenTightened) {
  const auto before = program_of(
      "def f(float(7) X, float(3) W) -> (O) {\n"
      "  T(r, t) = t >= r && t < r + 7 && t >= 1 && t < 8 ? X(t - 1) * W(r) : 0 where t in 0:9\n  O(h) +=! T(r, h + r) "
      "}");
  const auto relaxed = derive::relax_bounds(before, "T");
  EXPECT_EQ(proved(before, relaxed).substr(0, 66),
            "T1(r, t) = t - 1 >= 0 && t - 1 < 7 ? X(t - 1) * W(r) : 0\nT(r, t) =");
  EXPECT_TRUE(refuses(
      before, relaxed,
      "def f(float(7) X, float(3) W) -> (O) {\n"
      "  T1(r, t) = t >= 1 && t < 8 ? X(t - 1) * W(r) : 0 where r in 0:3, t in 0:9\n"
      "  T(r, t) = t >= r && t < r + 8 ? T1(r, t) : 0 where r in 0:3, t in 0:9\n  O(h) +=! T(r, h + r) where h in "
      "0:7 }"));
  const auto fused = derive::fuse(relaxed.after, "T");
  proved(relaxed.after, fused);
  const auto tight = derive::tighten_bounds(fused.after, "T1");
  EXPECT_EQ(proved(fused.after, tight).substr(0, 28), "T(r, t) = X(t - 1) * W(r)\nT1");
  EXPECT_TRUE(refuses(
      fused.after, tight,
      "def f(float(7) X, float(3) W) -> (O) {\n"
      "  T(r, t) = X(t - 1) * W(r) where r in 0:3, t in 2:8\n"
      "  T1(r, t) = t >= 2 && t < 8 ? T(r, t) : 0 where r in 0:3, t in 0:9\n  O(h) +=! T1(r, h + r) where h in 0:7 }"));
  EXPECT_EQ(refusal([&] { derive::tighten_bounds(tight.after, "T"); }), "'T' has no elements to leave out");
  EXPECT_EQ(refusal([&] { derive::relax_bounds(tight.after, "T"); }), "'T' is computed in all of its box");
}

TEST(SplitExpression, TwoSidesOfAnIndex) {
  const auto before = program_of("def f(float(9) X, float(9) Y) -> (O) { O(x) = x < 4 ? X(x) : Y(x) }");
  const auto step = derive::split_expression(before, "O", 0, 4);
  EXPECT_EQ(proved(before, step), "T(x) = X(x)\nU(x) = Y(x)\nO(x) = x < 4 ? T(x) : U(x)\n");
  EXPECT_TRUE(refuses(
      before, step,
      "def f(float(9) X, float(9) Y) -> (O) { T(x) = X(x) where x in 0:5  U(x) = Y(x) where x in 4:9  O(x) = x < 5 "
      "? T(x) : U(x) where x in 0:9 }"));
  EXPECT_EQ(refusal([&] { derive::split_expression(before, "O", 0, 9); }), "one side of the split is empty");
}

TEST(MergeExpressions, AlongADimensionWhereAnOperandIsShared) {
  const auto before = program_of(
      "def f(float(3,4) X, float(4,5) A, float(4,6) B) -> (Q, K) { Q(m,n) +=! X(m,k) * A(k,n)  K(m,n) +=! X(m,k) * "
      "B(k,n) }");
  const auto step = derive::merge_expressions(before, "Q", "K", 1);
  EXPECT_EQ(proved(before, step),
            "C(n, k) = n < 5 ? A(k, n) : B(k, n - 5)\nT(m, n) +=! X(m, k) * C(n, k)\nQ(m, n) = T(m, n)\nK(m, n) = T(m, "
            "n + 5)\n");
  EXPECT_TRUE(refuses(
      before, step,
      "def f(float(3,4) X, float(4,5) A, float(4,6) B) -> (Q, K) { C(n, k) = n < 5 ? A(k, n) : B(k, n - 5) where n in "
      "0:11  T(m, n) +=! X(m, k) * C(n, k)  Q(m, n) = T(m, n) where n in 0:5  K(m, n) = T(m, n + 4) where n in 0:6 "
      "}"));
  EXPECT_EQ(refusal([&] { derive::merge_expressions(before, "Q", "K", 0); }), "the boxes differ");
}

TEST(MergeExpressions, SideBySideAsABatch) {
  const auto before = program_of(
      "def f(float(3,4) X, float(3,4) Y, float(4,5) A, float(4,5) B) -> (Q, K) { Q(m,n) +=! X(m,k) * A(k,n)  K(m,n) "
      "+=! Y(m,k) * B(k,n) }");
  const auto step = derive::merge_expressions(before, "Q", "K", std::nullopt);
  const auto text = proved(before, step);
  EXPECT_NE(text.find("T(j, m, n) +=! C(j, m, k) * C_1(j, n, k)"), std::string::npos) << text;
  auto crossed = derive::to_text(step.after);
  const auto at = crossed.rfind("T(1, ");
  ASSERT_NE(at, std::string::npos) << crossed;
  EXPECT_TRUE(refuses(before, step, crossed.replace(at, 5, "T(0, ")));
}

TEST(ChangeLayout, AnOperandIsCopied) {
  const auto before = program_of(
      "def f(float(7) X, float(3) W) -> (O) { O(h) +=! h + k >= 1 && h + k < 8 ? X(h + k - 1) * W(k) : 0 where h in "
      "0:7 }");
  const auto step = derive::copy_operand(before, "O", 0, {0, 1});
  EXPECT_EQ(proved(before, step),
            "C(h, k) = h + k - 1 >= 0 && h + k - 1 < 7 ? X(h + k - 1) : 0\nO(h) +=! C(h, k) * W(k)\n");
  EXPECT_TRUE(refuses(before, step,
                      "def f(float(7) X, float(3) W) -> (O) { C(h, k) = h + k >= 1 && h + k < 8 ? X(h + k - 1) : 1 "
                      "where h in 0:7, k in 0:3  O(h) +=! C(h, k) * W(k) }"));
  EXPECT_EQ(refusal([&] { derive::copy_operand(before, "O", 0, {0}); }),
            "the copy lacks an iterator that the operand depends on");
}

TEST(ChangeLayout, ATensorInAnotherOrder) {
  const auto before = program_of("def f(float(7,3) X) -> (O) { T(k, h) = X(h, k) * 2  O(h) +=! T(k, h) }");
  const auto step = derive::reorder_dimensions(before, "T", {1, 0});
  EXPECT_EQ(proved(before, step), "T1(h, k) = X(h, k) * 2\nT(k, h) = T1(h, k)\nO(h) +=! T(k, h)\n");
  EXPECT_TRUE(refuses(
      before, step,
      "def f(float(7,3) X) -> (O) { T1(h, k) = X(h, k) * 2  T(k, h) = T1(h, 2 - k) where k in 0:3  O(h) +=! T(k, h) "
      "}"));
  EXPECT_EQ(refusal([&] { derive::reorder_dimensions(before, "T", {0, 1}); }),
            "the order is no other one of the dimensions");
}

/// The program after \p steps, each of which is proved.
Program proved_all(Program before, const std::vector<Step>& steps) {
  for (const auto& step : steps) {
    proved(before, step);
    before = step.after;
  }
  return before;
}

TEST(FuseCopies, ThoseThatUndoEachOtherAreGoneAndWhatStandsBetweenFollows) {
  const auto before = program_of(
      "def f(float(4,3) X) -> (O) { Y(i,j) = X(j,i)  M(i) max=! Y(i,j)  E(i,j) = exp(Y(i,j) - M(i))  D(i) +=! E(i,j)\n"
      "  S(i,j) = E(i,j) / D(i)  O(j,i) = S(i,j) }");
  const auto fused = proved_all(before, derive::fuse_copies(before));
  EXPECT_EQ(lines_of(fused),
            "M(i) max=! X(j, i)\nE(i, j) = exp(X(j, i) - M(i))\nD(i) +=! E(i, j)\nO(j, i) = E(i, j) / D(i)\n");
  const auto followed = proved_all(fused, derive::follow_orders(fused));
  EXPECT_EQ(lines_of(followed),
            "M(i) max=! X(j, i)\nT(j, i) = exp(X(j, i) - M(i))\nD(i) +=! T(j, i)\nO(j, i) = T(j, i) / D(i)\n");
  const auto kept = program_of("def f(float(4,3) X) -> (O, S) { S(i,j) = X(j,i) * 2  O(j,i) = S(i,j) }");
  EXPECT_TRUE(derive::fuse_copies(kept).empty()) << "an output stays";
}

TEST(Reassociate, AChainOfProducts) {
  const auto before =
      program_of("def f(float(3,4) A, float(4,5) B, float(5,6) C) -> (O) { O(m,n) +=! A(m,k) * B(k,l) * C(l,n) }");
  const auto step = derive::reassociate(before, "O", {1, 2});
  EXPECT_EQ(proved(before, step), "T(n, k) +=! B(k, l) * C(l, n)\nO(m, n) +=! A(m, k) * T(n, k)\n");
  EXPECT_TRUE(refuses(before, step,
                      "def f(float(3,4) A, float(4,5) B, float(5,6) C) -> (O) { T(n, k) +=! B(k, l) * C(l, n)  O(m, n) "
                      "+=! A(m, k) * T(n, k) where k in 0:3 }"));
  EXPECT_EQ(derive::reassociations(before).size(), 2u);
}

TEST(Reassociate, AFactorLeavesASum) {
  const auto before = program_of("def f(float(3) A, float(3,4) B) -> (O) { O(x) +=! A(x) * B(x,s) }");
  const auto step = derive::reassociate(before, "O", {1});
  EXPECT_EQ(proved(before, step), "T(x) +=! B(x, s)\nO(x) = A(x) * T(x)\n");
  EXPECT_TRUE(
      refuses(before, step, "def f(float(3) A, float(3,4) B) -> (O) { T(x) +=! B(x, s)  O(x) = A(x) * A(x) * T(x) }"));
  const auto least = program_of("def f(float(3) A, float(3,4) B) -> (O) { O(x) min=! A(x) + B(x,s) }");
  EXPECT_EQ(proved(least, derive::reassociate(least, "O", {1})), "T(x) min=! B(x, s)\nO(x) = A(x) + T(x)\n");
}

TEST(Reassociate, ADomainThatIsNoProductIsRefused) {
  const auto before = program_of(
      "def f(float(9) A, float(9) B) -> (O) { O(x) +=! x + r >= 3 && s >= 2 ? A(r) * B(s) : 0 where x in 0:5, r in "
      "0:9, s in 0:9 }");
  EXPECT_EQ(proved(before, derive::reassociate(before, "O", {1})).substr(0, 5), "T +=!");
  const auto other = program_of(
      "def f(float(9) A, float(9) B) -> (O) { O(x) +=! r + s + x < 9 ? A(r) * B(s) : 0 where x in 0:5, r in 0:9, s in "
      "0:9 }");
  EXPECT_EQ(refusal([&] { derive::reassociate(other, "O", {1}); }), "the instances are no product");
}

const char* const two_of_one =
    "def f(float(3,4) X, float(4,5) A, float(4,5) B, float(5) c) -> (O) {\n"
    "  P(m,n) +=! X(m,k) * A(k,n)  Q(m,n) +=! X(m,l) * B(l,n)\n";

TEST(MergeSums, TwoTermsAreOneSum) {
  const auto before = program_of(str(two_of_one, "  O(m,n) = 2 * P(m,n) - Q(m,n) }"));
  const auto step = derive::merge_sums(before, "O", 0, 1, {0});
  EXPECT_EQ(proved(before, step), "O(m, n) +=! 2 * (X(m, k) * A(k, n)) - X(m, k) * B(k, n)\n");
  EXPECT_TRUE(refuses(before, step,
                      "def f(float(3,4) X, float(4,5) A, float(4,5) B, float(5) c) -> (O) {\n"
                      "  O(m, n) +=! 2 * (X(m, k) * A(k, n)) + X(m, k) * B(k, n) }"));
  EXPECT_EQ(derive::sum_merges(before).size(), 1u);
}

TEST(MergeSums, OtherTermsStay) {
  const auto before = program_of(str(two_of_one, "  O(m,n) = P(m,n) + c(n) + Q(m,n) }"));
  const auto step = derive::merge_sums(before, "O", 0, 2, {0});
  EXPECT_EQ(proved(before, step), "T(m, n) +=! X(m, k) * A(k, n) + X(m, k) * B(k, n)\nO(m, n) = c(n) + T(m, n)\n");
  EXPECT_TRUE(
      refuses(before, step,
              "def f(float(3,4) X, float(4,5) A, float(4,5) B, float(5) c) -> (O) {\n"
              "  T(m, n) +=! X(m, k) * A(k, n) + X(m, k) * B(k, n) where k in 0:3  O(m, n) = c(n) + T(m, n) }"));
  EXPECT_EQ(refusal([&] { derive::merge_sums(before, "O", 0, 1, {0}); }), "a term is no sum that is read once");
}

TEST(MergeSums, OfOtherInstancesAreRefused) {
  const auto before = program_of(
      "def f(float(3,4) X, float(4,5) A, float(4,5) B) -> (O) {\n"
      "  P(m,n) +=! X(m,k) * A(k,n)  Q(m,n) +=! l < 3 ? X(m,l) * B(l,n) : 0 where l in 0:4  O(m,n) = P(m,n) + Q(m,n) "
      "}");
  EXPECT_EQ(refusal([&] { derive::merge_sums(before, "O", 0, 1, {0}); }), "the sums differ");
  EXPECT_TRUE(derive::sum_merges(before).empty());
}

TEST(MergeSums, WindowsOfManyIteratorsInAnyOrder) {
  const auto before = program_of(
      "def g(float(4,9) X, float(5,4,3) A, float(5,3,4) B) -> (O) {\n"
      "  P(f,h) +=! X(c,h+r) * A(f,c,r)  Q(f,h) +=! X(c,h+r) * B(f,r,c) where r in 0:3, c in 0:4\n"
      "  O(f,h) = P(f,h) + Q(f,h) }");
  const auto steps = derive::sum_merges(before);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(proved(before, steps[0]), "O(f, h) +=! X(c, h + r) * A(f, c, r) + X(c, h + r) * B(f, r, c)\n");
  const auto factored = derive::sum_factorings(steps[0].after);
  ASSERT_EQ(factored.size(), 1u);
  EXPECT_EQ(proved(steps[0].after, factored[0]),
            "T(f, c, r) = A(f, c, r) + B(f, r, c)\nO(f, h) +=! X(c, h + r) * T(f, c, r)\n");
}

const std::string two_products =
    "def f(float(3,4) X, float(4,5) A, float(3,2) Y, float(2,5) B, float(5) c) -> (O) {\n"
    "  P(m,n) +=! X(m,k) * A(k,n)  Q(m,n) +=! B(l,n) * Y(m,l)";

TEST(JoinSums, OfOtherOperandsAreOneProduct) {
  const auto before = program_of(two_products + "  O(m,n) = P(m,n) + Q(m,n) }");
  const auto steps = derive::sum_joins(before);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(proved(before, steps[0]),
            "C(m, k) = k < 4 ? X(m, k) : Y(m, k - 4)\nC_1(n, k) = k < 4 ? A(k, n) : B(k - 4, n)\n"
            "O(m, n) +=! C(m, k) * C_1(n, k)\n");
  for (const char* wrong : {"C(m,k) = k < 4 ? X(m,k) : Y(m,5-k) where m in 0:3, k in 0:6  C_1(n,k) = k < 4 ? A(k,n) : "
                            "B(k-4,n) where n in 0:5, k in 0:6  O(m,n) +=! C(m,k) * C_1(n,k) where k in 0:6 }",
                            "C(m,k) = k < 4 ? X(m,k) : Y(m,k-4) where m in 0:3, k in 0:6  C_1(n,k) = k < 4 ? A(k,n) : "
                            "B(k-4,n) where n in 0:5, k in 0:6  O(m,n) +=! C(m,k) * C_1(n,k) where k in 0:5 }"})
    EXPECT_TRUE(refuses(
        before, steps[0],
        std::string("def f(float(3,4) X, float(4,5) A, float(3,2) Y, float(2,5) B, float(5) c) -> (O) {") + wrong));
}

TEST(JoinSums, NumbersGoIntoAnOperandAndOtherTermsStay) {
  const auto before = program_of(two_products + "  O(m,n) = 2 * P(m,n) + c(n) - Q(m,n) }");
  const auto steps = derive::sum_joins(before);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(proved(before, steps[0]),
            "C(m, k) = k < 4 ? X(m, k) : Y(m, k - 4)\nC_1(n, k) = k < 4 ? 2 * A(k, n) : -1 * B(k - 4, n)\n"
            "T(m, n) +=! C(m, k) * C_1(n, k)\nO(m, n) = c(n) + T(m, n)\n");
}

TEST(JoinSums, WindowsAreJoinedAlongTheirChannelsWithPadding) {
  const auto before = program_of(
      "def g(float(4,6) X, float(5,4,3) A, float(2,6) Y, float(5,3,2) B) -> (O) {\n"
      "  P(f,h) +=! h + r >= 1 && h + r < 7 ? X(c,h+r-1) * A(f,c,r) : 0 where h in 0:6, r in 0:3, c in 0:4\n"
      "  Q(f,h) +=! h + r >= 1 && h + r < 7 ? Y(c,h+r-1) * B(f,r,c) : 0 where h in 0:6, c in 0:2, r in 0:3\n"
      "  O(f,h) = P(f,h) + Q(f,h) }");
  const auto steps = derive::sum_joins(before);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_NE(proved(before, steps[0]).find("O(f, h) +=! C("), std::string::npos);
}

TEST(JoinSums, OfMaximaToo) {
  const auto before = program_of(
      "def g(float(3,4) X, float(4,5) A, float(3,2) Y, float(2,5) B) -> (O) {\n"
      "  P(m,n) max=! X(m,k) + A(k,n)  Q(m,n) max=! Y(m,l) + B(l,n)  O(m,n) = max(P(m,n), Q(m,n)) }");
  const auto steps = derive::sum_joins(before);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_NE(proved(before, steps[0]).find("O(m, n) max=! C(m, k) + C_1(n, k)"), std::string::npos);
}

TEST(JoinSums, WhatSharesAnOperandOrIsReadTwiceStays) {
  EXPECT_TRUE(derive::sum_joins(program_of(str(two_of_one, "  O(m,n) = P(m,n) + Q(m,n) }"))).empty());
  EXPECT_TRUE(derive::sum_joins(program_of(two_products + "  O(m,n) = P(m,n) + Q(m,n) * Q(m,n) }")).empty());
  EXPECT_TRUE(derive::sum_joins(program_of(two_products + "  O(m,n) = P(m,n) * Q(m,n) }")).empty());
}

TEST(FactorSum, ASharedOperandLeaves) {
  const auto before = program_of(
      "def f(float(3,4) X, float(4,5) A, float(4,5) B, float(3,5) C) -> (O) {\n"
      "  O(m,n) +=! X(m,k) * A(k,n) + C(m,n) - B(k,n) * X(m,k) }");
  const auto step = derive::factor_sum(before, "O", 0);
  EXPECT_EQ(proved(before, step), "T(n, k) = A(k, n) - B(k, n)\nO(m, n) +=! C(m, n) + X(m, k) * T(n, k)\n");
  EXPECT_TRUE(refuses(before, step,
                      "def f(float(3,4) X, float(4,5) A, float(4,5) B, float(3,5) C) -> (O) {\n"
                      "  T(n, k) = A(k, n) + B(k, n)  O(m, n) +=! C(m, n) + X(m, k) * T(n, k) }"));
  EXPECT_EQ(refusal([&] { derive::factor_sum(before, "O", 1); }), "it is a factor of fewer than two terms");
}

TEST(FactorSum, AnySemiring) {
  const auto before = program_of(
      "def f(float(3,4) X, float(4,5) A, float(4,5) B) -> (O) { O(m,n) max=! max(X(m,k) + A(k,n), B(k,n) + X(m,k)) }");
  const auto step = derive::factor_sum(before, "O", 0);
  EXPECT_EQ(proved(before, step), "T(n, k) = max(A(k, n), B(k, n))\nO(m, n) max=! X(m, k) + T(n, k)\n");
  EXPECT_TRUE(refuses(before, step,
                      "def f(float(3,4) X, float(4,5) A, float(4,5) B) -> (O) {\n"
                      "  T(n, k) = min(A(k, n), B(k, n))  O(m, n) max=! X(m, k) + T(n, k) }"));
}

}  // namespace
}  // namespace tc::test
