#include <gtest/gtest.h>

#include "tc/derive/form/from_def.h"
#include "tc/derive/form/to_def.h"
#include "tc/derive/proof/check.h"
#include "test/derive/derive_fixture.h"

namespace tc::test {
namespace {

/// The program as text, which must be one that is equal to it by check() and on integers.
std::string there_and_back(const std::string& text) {
  const auto program = program_of(text);
  const auto printed = derive::to_text(program);
  const auto again = program_of(printed, program.context);
  const auto verdict = derive::check(program, again, {});
  EXPECT_TRUE(verdict.equal) << verdict.why << "\n" << printed;
  EXPECT_EQ(derive::to_text(again), printed);
  const auto difference = integer_difference(text, printed);
  EXPECT_FALSE(difference) << *difference << "\n" << printed;
  return printed;
}

TEST(Form, AProductIsPrintedWithItsRanges) {
  EXPECT_EQ(there_and_back("def f(float(3,4) A, float(4,5) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"),
            "def f(float32(3, 4) A, float32(4, 5) B) -> (C) {\n"
            "  C(m, n) +=! A(m, k) * B(k, n) where m in 0:3, n in 0:5, k in 0:4\n"
            "}\n");
}

TEST(Form, AReturnThatNoTensorGivesATypeHasOne) {
  EXPECT_EQ(there_and_back("def f(double(3) A) -> (double O) { O(i) min=! 0 + 0 where i in 0:2, j in 0:2 }"),
            "def f(float64(3) A) -> (float64 O) {\n"
            "  O(i) min=! 0 + 0 where i in 0:2, j in 0:2\n"
            "}\n");
}

TEST(Form, ATemporaryThatNoTensorGivesATypeHasTypedLiterals) {
  EXPECT_EQ(there_and_back("def f(double(3) A) -> (O) {\n"
                           "  U(i) min=! double(2) where i in 0:3, j in 0:2\n  O(i) = A(i) + U(i) }"),
            "def f(float64(3) A) -> (O) {\n"
            "  U(i) min=! float64(2) where i in 0:3, j in 0:2\n"
            "  O(i) = A(i) + U(i) where i in 0:3\n"
            "}\n");
}

TEST(Form, PaddingBecomesAGuardOfTheRead) {
  EXPECT_EQ(there_and_back("def f(float(5) X, float(3) W) -> (O) {\n"
                           "  O(h) +=! (h + k >= 1 && h + k <= 5 ? X(h + k - 1) : 0) * W(k) where h in 0:5 }"),
            "def f(float32(5) X, float32(3) W) -> (O) {\n"
            "  O(h) +=! h + k - 1 >= 0 && h + k - 1 < 5 ? X(h + k - 1) * W(k) : 0 where h in 0:5, k in 0:3\n"
            "}\n");
}

TEST(Form, AnInitialValueAndItsReductionAreOneScope) {
  const auto program = program_of("def f(float(5,3) X) -> (O) { O(i) = 0 where i in 0:5  O(i) += X(i,k) }");
  ASSERT_EQ(program.scopes.size(), 1u);
  EXPECT_EQ(program.scopes[0]->op, ReductionOp::Sum);
}

TEST(Form, WhatIsAccumulatedToIsASumOfItsParts) {
  for (const auto& [text, want] : {
           std::pair(
               "def f(float(5,3) X, float(5) b) -> (O) { O(i) = b(i)  O(i) += X(i,k) }",
               "def f(float(5,3) X, float(5) b) -> (O) { O_1(i) = b(i)  O_2(i) +=! X(i,k)  O(i) = O_1(i) + O_2(i) }"),
           std::pair("def f(float(5,3) X) -> (O) { O(i) = 7 where i in 0:5  O(i) max= X(i,k) }",
                     "def f(float(5,3) X) -> (O) { O_1(i) max=! X(i,k)  O(i) = max(7, O_1(i)) }"),
           std::pair("def f(float(5,3) X, float(5,2) Y) -> (O) { O(i) +=! X(i,k)  O(i) += Y(i,k) }",
                     "def f(float(5,3) X, float(5,2) Y) -> (O) { O_1(i) +=! X(i,k)  O_2(i) +=! Y(i,k)  O(i) = O_1(i) + "
                     "O_2(i) }"),
       }) {
    EXPECT_EQ(there_and_back(text), there_and_back(want));
    EXPECT_FALSE(integer_difference(text, there_and_back(text)));
  }
}

TEST(Form, ATensorThatIsWrittenAgainHasVersions) {
  for (const auto& [text, want] : {
           std::pair("def f(float(6,7) X) -> (P) { P(i) +=! X(i,k)  P(i) = P(i) / 7 }",
                     "def f(float(6,7) X) -> (P) { P_1(i) +=! X(i,k)  P(i) = P_1(i) / 7 }"),
           std::pair("def f(float(9) X) -> (O) { O(i) = X(i)  O(i) = X(i) * 2 }",
                     "def f(float(9) X) -> (O) { O_1(i) = X(i)  O(i) = X(i) * 2 }"),
           std::pair(
               "def f(float(9) X) -> (O) { T(i) = X(i)  T(i) = T(8 - i) + X(i)  O(i) = T(i)  T(i) = O(i) * T(i)  O(i) "
               "= O(i) - T(8 - i) }",
               "def f(float(9) X) -> (O) { T_1(i) = X(i)  T_2(i) = T_1(8 - i) + X(i)  O_1(i) = T_2(i)  T(i) = O_1(i) "
               "* T_2(i)  O(i) = O_1(i) - T(8 - i) }"),
           std::pair("def f(float(9) X) -> (O) { T(i) = X(i)  O(i) = T(i) * 2  T(i) += X(i)  O(i) = O(i) + T(i) }",
                     "def f(float(9) X) -> (O) { T_1(i) = X(i)  O_1(i) = T_1(i) * 2  T_2(i) +=! X(i)  T(i) = T_1(i) + "
                     "T_2(i)  O(i) = O_1(i) + T(i) }"),
           std::pair("def f(float(9) X) -> (O) { O(i) = X(i)  O(i) += O(i) * X(i) }",
                     "def f(float(9) X) -> (O) { O_1(i) = X(i)  O_2(i) +=! O_1(i) * X(i)  O(i) = O_1(i) + O_2(i) }"),
       }) {
    EXPECT_EQ(there_and_back(text), there_and_back(want));
    EXPECT_FALSE(integer_difference(text, there_and_back(text)));
  }
}

TEST(Form, ATemporaryWithoutElementsIsGone) {
  EXPECT_EQ(there_and_back("def f(float(3) A) -> (O) { S(i) = A(i) where i in 0:0  O(i) = A(i) * 2 }"),
            there_and_back("def f(float(3) A) -> (O) { O(i) = A(i) * 2 }"));
}

TEST(Form, TextsOfManyKindsComeBack) {
  for (const char* text : {
           "def f(float(7) X, float(3) W) -> (O) { P(i) = i >= 1 && i <= 7 ? X(i - 1) : 0 where i in 0:9  O(h) +=! P(h "
           "+ k) * W(k) }",
           "def f(float(4) X, float(4) W) -> (O) { O(h) +=! (h + 1 - r) % 2 == 0 && h + 1 - r >= 0 && h + 1 - r < 8 ? "
           "X((h + 1 - r) / 2) * W(r) : 0 where h in 0:8 }",
           "def f(float(9) X) -> (O) { O(i) max=! i + k < 9 ? X(i + k) + X(i) : -1.0 / 0.0 where i in 0:9, k in 0:3 }",
           "def f(int32(9) X) -> (O) { O(i) min=! i + k < 9 ? X(i + k) : 2147483647 where i in 0:9, k in 0:3 }",
           "def f(float(9) X, float(9) Y) -> (O) { O(i) = i < 4 ? X(i) : (i < 6 ? Y(i) : 7) where i in 0:9 }",
           "def f(float(3,9) X, float(3,2) W) -> (O) { O(h) +=! h + r >= 1 ? X(c, h + r - 1) * W(c, r) : 0 where "
           "c in 0:3, r in 0:2, h in 0:8 }",
           "def f(float(9) X, float s) -> (O, Z) { Z = s * 2  O(i) = max(X(i) * s, 0) }",
           "def f(float(6) X) -> (O) { O(i) = X(i - 2) }",
           "def f(float(12) X) -> (O) { O(i, j) = X(i * 3 + j) where i in 0:4, j in 0:3 }",
           "def f(bool(4,4) X, bool(4,4) Y) -> (O) { O(i, j) ||=! X(i, k) && Y(k, j) }",
       })
    there_and_back(text);
}

TEST(Form, WhatHasNoWordsIsRefused) {
  const auto context = std::make_shared<polyhedral::Context>();
  const std::pair<const char*, const char*> rows[] = {
      {"def f(float(9) X, int32(4) I) -> (O) { O(i) = X(I(i)) }", "a subscript is read from a tensor"},
      {"def f(float(9) X) -> (O) { O(i) += X(i) }", "'O' is accumulated into"},
      {"def f(float(9) X) -> (O) { T(i) = X(i)  T(i) = X(i) where i in 0:4  O(i) = T(i) }", "a part of 'T' is written"},
      {"def f(float(9) X) -> (O) { O(i) = 3 where i in 0:9 }", "'O' is constant"},
  };
  for (const auto& [text, why] : rows) EXPECT_EQ(refusal([&] { derive::from_text(text, context); }), why) << text;
}

}  // namespace
}  // namespace tc::test
