#include "tc/lang/check/inline.h"

#include <gtest/gtest.h>

#include "tc/base/error.h"
#include "tc/lang/check/check.h"
#include "tc/lang/syntax/parse.h"
#include "tc/lang/syntax/print.h"
#include "test/support/expect_error.h"
#include "test/support/interpret_text.h"

namespace tc::test {
namespace {

using namespace lang;

/// The last def of \p text, inlined and printed; the text parses, checks and prints back to the same.
std::string inlined(const std::string& text) {
  File file = check(parse(text));
  std::string result = print(inline_calls(file.defs.back(), file, sample_context(file)));
  EXPECT_EQ(print(check(parse(result))), result);
  return result;
}

struct Row {
  const char *before, *after;
};

void expect_inlined(const std::vector<Row>& rows) {
  for (const auto& [before, after] : rows) EXPECT_EQ(inlined(before), after) << before;
}

const std::string scale = "def scale(float(N) X, float s) -> (Y) { t = s + 1  Y(i) = X(i) * t }\n";

TEST(Inline, LetsBecomeTheirValues) {
  expect_inlined({
      {"def f(float(N) A, float s) -> (B) { B(i) = A(i) * c + d where c = s + 1, d = c * c }",
       "def f(float32(N) A, float32 s) -> (B) {\n"
       "  B(i) = A(i) * (s + 1) + (s + 1) * (s + 1)\n"
       "}\n"},
      {"def f(int8(N) A) -> (B) { B(i) = A(i) + c where c = 1, i in 0:N }",
       "def f(int8(N) A) -> (B) {\n"
       "  B(i) = A(i) + 1 where i in 0:N\n"
       "}\n"},
      {"def f(double(N) A) -> (B) { B(i) = A(i) * -c where c = 0.1 }",
       "def f(float64(N) A) -> (B) {\n"
       "  B(i) = A(i) * -0.1\n"
       "}\n"},
      {"def f(float(N) A) -> (B) { B(i) = 2.0 where c = A(i) }",
       "def f(float32(N) A) -> (B) {\n"
       "  B(i) = 2.0 where exists A(i)\n"
       "}\n"},
  });
}

TEST(Inline, ADefWithoutCallsAndLetsStaysTheSameTree) {
  File file = check(parse("def f(float(N) A) -> (B) { B(i) = A(i) }"));
  Def def = inline_calls(file.defs[0], file, sample_context(file));
  EXPECT_EQ(std::get<Assignment>(def.statements[0].node).rhs,
            std::get<Assignment>(file.defs[0].statements[0].node).rhs);
}

TEST(Inline, CallsBecomeTheCalleesStatements) {
  expect_inlined({
      {"def scale(float(N) X, float s) -> (Y) { t = s + 1  Y(i) = X(i) * t }\n"
       "def f(float(M) A, float u) -> (B) { B = scale(A, u) }",
       "def f(float32(M) A, float32 u) -> (B) {\n"
       "  t_1 = u + 1\n"
       "  B(i) = A(i) * t_1\n"
       "}\n"},
      {"def scale(float(N) X, float s) -> (Y) { t = s + 1  Y(i) = X(i) * t }\n"
       "def f(float(M) A, float t) -> (B) { C = scale(A, t)  D = scale(C, t)  B(i) = D(i) + N where N = C(i) }",
       "def f(float32(M) A, float32 t) -> (B) {\n"
       "  t_1 = t + 1\n"
       "  C(i) = A(i) * t_1\n"
       "  t_2 = t + 1\n"
       "  D(i) = C(i) * t_2\n"
       "  B(i) = D(i) + C(i)\n"
       "}\n"},
      {"def two(float(N) X) -> (S, P) { S +=! X(i)  P *=! X(i) }\n"
       "def outer(float(N) X) -> (R) { (s, p) = two(X)  R = s / p }\n"
       "def f(float(K) A) -> (Q) { Q = outer(A) }",
       "def f(float32(K) A) -> (Q) {\n"
       "  s_1 +=! A(i)\n"
       "  p_1 *=! A(i)\n"
       "  Q = s_1 / p_1\n"
       "}\n"},
  });
}

TEST(Inline, IteratorsStepAsideForTensorsAndSizes) {
  expect_inlined({
      {"def g(float(N) X) -> (Y) { Y(a) = X(a) }\n"
       "def f(float(M) a) -> (B) { B = g(a) }",
       "def f(float32(M) a) -> (B) {\n"
       "  B(a_1) = a(a_1)\n"
       "}\n"},
      {"def g(float(N) X) -> (Y) { Y(a) +=! X(a) * a_1 where a_1 in 0:N, a in 0:N }\n"
       "def f(float(M) a) -> (B) { B = g(a) }",
       "def f(float32(M) a) -> (B) {\n"
       "  B(a_2) +=! a(a_2) * a_1 where a_1 in 0:M, a_2 in 0:M\n"
       "}\n"},
  });
}

TEST(Inline, SizesBecomeDimensionsOfTheArguments) {
  expect_inlined({
      {"def g(float(N) X) -> (Y) { Y(i) = X(N-1-i) + X.0 where i in 0:N }\n"
       "def f(float(M) A) -> (C) { B(i) = A(i)  C = g(B) }",
       "def f(float32(M) A) -> (C) {\n"
       "  B(i) = A(i)\n"
       "  C(i) = B(B.0 - 1 - i) + B.0 where i in 0:B.0\n"
       "}\n"},
      {"def g(float(N,N) X) -> (Y) { Y(i) = X(i,i) }\n"
       "def f(float(M,K) A) -> (C) { C = g(A) }",
       "def f(float32(M, K) A) -> (C) {\n"
       "  A_size_1_1(i, j) = false where i in 0:K - M, j in 0:M - K\n"
       "  C(i) = A(i, i)\n"
       "}\n"},
      {"def g(float(N,2) X) -> (Y) { Y(i) = X(i,0) }\n"
       "def f(float(M,2) A) -> (C) { C = g(A) }",
       "def f(float32(M, 2) A) -> (C) {\n"
       "  C(i) = A(i, 0)\n"
       "}\n"},
  });
}

TEST(Inline, ResultsAreSeenFromZero) {
  expect_inlined({
      {"def g(float(N) X) -> (Y) { Y(i) = X(i-1) where i in 1:N }\n"
       "def f(float(M) A) -> (C) { B = g(A)  C(i) = B(i) }",
       "def f(float32(M) A) -> (C) {\n"
       "  B_1(i) = A(i - 1) where i in 1:M\n"
       "  B(i) = B_1(i + 1) where i in 0:B_1.0\n"
       "  C(i) = B(i)\n"
       "}\n"},
      {"def g(float(N) X) -> (Y) { Y(i) = X(i) }\n"
       "def f(float(M) A) -> (C) { B(i) = A(i-1) where i in 1:M  C = g(B) }",
       "def f(float32(M) A) -> (C) {\n"
       "  B(i) = A(i - 1) where i in 1:M\n"
       "  B_1(i) = B(i + 1) where i in 0:B.0\n"
       "  C(i) = B_1(i)\n"
       "}\n"},
  });
}

TEST(Inline, AResultIsAWholeTensor) {
  expect_inlined({
      {"def g(float(N) X) -> (Y) { Y(i) = X(N-1-i) where i in 0:N  Y(i) = Y(i) + X(i) }\n"
       "def f(float(M) A) -> (B) { B(i) = A(i)  B = g(B) }",
       "def f(float32(M) A) -> (B) {\n"
       "  B_1(i) = A(i)\n"
       "  B(i) = B_1(B_1.0 - 1 - i) where i in 0:B_1.0\n"
       "  B(i) = B(i) + B_1(i)\n"
       "}\n"},
      {"def fc(float(B,I) X, float(O,I) W) -> (Y) { Y(b,o) +=! X(b,i) * W(o,i) }\n"
       "def f(float(B,I) X, float(H,I) W1, float(O,H) W2) -> (A) { A = fc(X, W1)  A(b,h) = A(b,h) + 1  A = fc(A, W2) }",
       "def f(float32(B, I) X, float32(H, I) W1, float32(O, H) W2) -> (A) {\n"
       "  A_1(b, o) +=! X(b, i) * W1(o, i)\n"
       "  A_1(b, h) = A_1(b, h) + 1\n"
       "  W2_size_1_1(i, j) = false where i in 0:H - A_1.1, j in 0:A_1.1 - H\n"
       "  A(b, o) +=! A_1(b, i) * W2(o, i)\n"
       "}\n"},
      {"def g(float(N) X) -> (Y) { Y(i) = X(i) }\n"
       "def f(float(N) X) -> (half(N) A) { A(i) = 0  B = h(A)  A = h(B)  A(i) = A(i) + X(i) }\n"
       "def h(half(N) X) -> (half Y) { Y(i) = X(i) }\n"
       "def k(float(N) X) -> (half(N) A) { A(i) = 0  B = h(A)  A = h(B)  A(i) = A(i) + X(i) }",
       "def k(float32(N) X) -> (float16(N) A) {\n"
       "  A_1(i) = float16(0) where i in 0:N\n"
       "  B(i) = A_1(i)\n"
       "  A(i) = B(i)\n"
       "  A(i) = A(i) + X(i)\n"
       "}\n"},
  });
}

TEST(Inline, WhatIsAccumulatedIntoStaysOneTensor) {
  expect_inlined({
      {"def g(float(N) X) -> (Y) { Y(i) += X(i) }\n"
       "def f(float(M) A) -> (B) { B = g(A) }",
       "def f(float32(M) A) -> (B) {\n"
       "  B(i) += A(i)\n"
       "}\n"},
  });
}

TEST(Inline, DeclaredTypesOfResultsAreKept) {
  expect_inlined({
      {"def g(float(N) X) -> (half Y) { Y(i) = X(i) * 2 }\n"
       "def f(float(M) A) -> (C) { B = g(A)  C(i) = B(i) }",
       "def f(float32(M) A) -> (C) {\n"
       "  B(i) = float16(A(i) * 2)\n"
       "  C(i) = B(i)\n"
       "}\n"},
      {"def g(float(N) X) -> (half Y) { Y(i) = X(i) * 2 }\n"
       "def f(float(M) A) -> (C) { C = g(A) }",
       "def f(float32(M) A) -> (float16 C) {\n"
       "  C(i) = A(i) * 2\n"
       "}\n"},
      {"def g(float(N,K) X) -> (half Y) { Y(i) +=! X(i,k) }\n"
       "def f(float(M,K) A) -> (C) { B = g(A)  C(i) = B(i) }",
       "def f(float32(M, K) A) -> (C) {\n"
       "  B_1(i) +=! A(i, k)\n"
       "  B(i) = float16(B_1(i))\n"
       "  C(i) = B(i)\n"
       "}\n"},
      {"def g(int(N,K) X) -> (double Y) { Y(i) +=! X(i,k) }\n"
       "def f(int(M,K) A) -> (C) { B = g(A)  C(i) = B(i) }",
       "def f(int32(M, K) A) -> (C) {\n"
       "  B(i) +=! float64(A(i, k))\n"
       "  C(i) = B(i)\n"
       "}\n"},
  });
}

TEST(Inline, DeclaredSizesOfResultsGiveRanges) {
  EXPECT_EQ(inlined("def g(float(N) X) -> (float(N,3) Y) { Y(i,j) = 0  Y(i,j) += X(i) }\n"
                    "def f(float(M) A) -> (C) { B = g(A)  C(i) = B(i,2) }"),
            "def f(float32(M) A) -> (C) {\n"
            "  B(i, j) = float32(0) where i in 0:M, j in 0:3\n"
            "  B(i, j) += A(i)\n"
            "  C(i) = B(i, 2)\n"
            "}\n");
}

TEST(Inline, IteratorsKeepTheRangesOfTheCallee) {
  const std::string g = "def g(float(N) X) -> (Y) { Y(i) = X(i) + X(N - 1 - i) }\n";
  expect_inlined({
      {(g + "def f(float(M) A) -> (B) { B = g(A) }").c_str(),
       "def f(float32(M) A) -> (B) {\n"
       "  B(i) = A(i) + A(M - 1 - i)\n"
       "}\n"},
      {(g + "def f(float(2) A) -> (B) { B = g(A) }").c_str(),
       "def f(float32(2) A) -> (B) {\n"
       "  B(i) = A(i) + A(int64(2) - 1 - i) where i in 0:2\n"
       "}\n"},
      {(g + "def f(float(M) A, float(M - 3) C) -> (B) { B = g(A) }").c_str(),
       "def f(float32(M) A, float32(M - 3) C) -> (B) {\n"
       "  B(i) = A(i) + A(M - 1 - i) where i in 0:M\n"
       "}\n"},
  });
}

TEST(Inline, InlinedProgramsComputeTheSame) {
  const Tensors arguments{{"A", dense(DType::Float32, {4}, {1, 2, 3, 4})}};
  auto run = [&](const std::string& text) { return text_of(interpret_text(text, arguments).at("O")); };
  EXPECT_EQ(run("def mean(float(N) X) -> (m) { s +=! X(i)  m = s / X.0 }\n"
                "def centre(float(N) X) -> (Y) { m = mean(X)  Y(i) = X(i) - m }\n"
                "def f(float(M) A) -> (O) { X = centre(A)  Y = centre(X)  O(i) = Y(i) * 2 }"),
            "-3 -1 1 3");
  EXPECT_EQ(run("def tail(float(N) X) -> (Y) { Y(i) = X(i) where i in 1:N }\n"
                "def f(float(M) A) -> (O) { B = tail(A)  O = tail(B) }"),
            "3 4");
  EXPECT_EQ(run("def reverse(float(N) X) -> (Y) { Y(i) = X(N-1-i) where i in 0:N  Y(i) = Y(i) + 10 * X(i) }\n"
                "def f(float(M) A) -> (O) { O(i) = A(i)  O = reverse(O) }"),
            "14 23 32 41");
}

TEST(Inline, ArgumentsThatDoNotFitAreRefusedAtTheCall) {
  const std::string text =
      "def trace(float(N,N) X) -> (t) { t +=! X(i,i) }\n"
      "def f(float(M,K) A) -> (O) { O = trace(A) }";
  auto shaped = [](std::int64_t m, std::int64_t k) { return Tensors{{"A", dense(DType::Float32, {m, k})}}; };
  EXPECT_EQ(text_of(interpret_text(text, shaped(3, 3)).at("O")), "0");
  EXPECT_EQ(text_of(interpret_text(text, shaped(0, 0)).at("O")), "0");
  EXPECT_ERROR(interpret_text(text, shaped(3, 4)), ArgumentError,
               "the extent of the range of index 'j' would be -1 = -1; it must not be negative");
  EXPECT_ERROR(interpret_text(text, shaped(4, 3)), ArgumentError,
               "the extent of the range of index 'i' would be -1 = -1; it must not be negative");
}

}  // namespace
}  // namespace tc::test
