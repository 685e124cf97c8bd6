#include <gtest/gtest.h>

#include "tc/autodiff/batch.h"
#include "tc/autodiff/tangent.h"
#include "tc/base/error.h"
#include "tc/lang/syntax/print.h"
#include "test/autodiff/gradient_fixture.h"
#include "test/support/expect_error.h"

namespace tc::test {
namespace {

std::string batch_text(const std::string& text, const std::map<std::string, int>& places) {
  return lang::print(autodiff::batch(understand_def(text).function, places).def);
}

std::string tangent_text(const std::string& text, const autodiff::Options& options = {}) {
  const auto def = understand_def(text);
  return lang::print(autodiff::tangent(def.function, def.file.text, options).def);
}

constexpr const char* softmax =
    "def f(double(N,D) I) -> (O) { m(n) max=! I(n,d)  t(n) +=! exp(I(n,d) - m(n))  O(n,d) = exp(I(n,d) - m(n)) / t(n) "
    "}";

TEST(Batch, WhatDependsOnItHasOneMoreIterator) {
  EXPECT_EQ(batch_text(softmax, {{"I", 0}}),
            "def f_vmap(float64(V, N, D) I) -> (O) {\n"
            "  m(v, n) max=! I(v, n, d)\n"
            "  t(v, n) +=! exp(I(v, n, d) - m(v, n))\n"
            "  O(v, n, d) = exp(I(v, n, d) - m(v, n)) / t(v, n)\n"
            "}\n");
}

TEST(Batch, TheRestStays) {
  EXPECT_EQ(batch_text("def f(float(N) A, float(N) B, float s) -> (X, Y) {"
                       " t(i) = A(i) * 2  X(i) = t(i) + B(i) * s  Y(i) = t(i) }",
                       {{"s", 0}}),
            "def f_vmap(float32(N) A, float32(N) B, float32(V) s) -> (X, Y) {\n"
            "  t(i) = A(i) * 2\n"
            "  X(v, i) = t(i) + B(i) * s(v)\n"
            "  Y(i) = t(i)\n"
            "}\n");
  EXPECT_EQ(
      autodiff::batch(understand_def("def f(float(N) A, float(N) B) -> (X, Y) { X(i) = A(i)  Y(i) = B(i) }").function,
                      {{"B", 0}})
          .returns,
      std::vector<std::string>{"Y"});
}

TEST(Batch, AllVersionsOfATensorHaveIt) {
  EXPECT_EQ(batch_text("def f(float(N) A, float(N) B) -> (O) { O(i) = A(i)  O(i) += B(i) }", {{"B", 0}, {"O", -1}}),
            "def f_vmap(float32(N) A, float32(V, N) B) -> (O) {\n"
            "  O(i, v) = A(i) where v in 0:V\n"
            "  O(i, v) += B(v, i)\n"
            "}\n");
}

TEST(Tangent, NamesAreFresh) {
  EXPECT_EQ(tangent_text("def f(float(N) X) -> (O) { O(t_X) = X(t_X) * X(t_X) }"),
            "def f_jvp(float32(N) X, float32(N) t_X_1) -> (t_O) {\n"
            "  t_O(t_X) = 2 * t_X_1(t_X) * X(t_X)\n"
            "}\n");
  EXPECT_EQ(tangent_text("def f(float(N) X) -> (O) { O(d_X) = X(d_X) * X(d_X) }"),
            "def f_jvp(float32(N) X, float32(N) t_X) -> (t_O) {\n"
            "  t_O(d_X) = 2 * t_X(d_X) * X(d_X)\n"
            "}\n");
}

TEST(Batch, NamesAreFresh) {
  EXPECT_EQ(batch_text("def f(float(V) v, int32(W) k) -> (O) { O(w) = v(k(w)) }", {{"k", 1}}),
            "def f_vmap(float32(V) v, int32(W, V_1) k) -> (O) {\n"
            "  O(v_1, w) = v(k(w, v_1))\n"
            "}\n");
}

TEST(Batch, PlacesThatDoNotExist) {
  EXPECT_ERROR(batch_text(softmax, {}), ArgumentError, "no parameter of 'f' has a batch");
  EXPECT_ERROR(batch_text(softmax, {{"I", 3}}), ArgumentError,
               "the batch cannot be dimension 3 of 'I', which has 2 dimensions of its own");
  EXPECT_ERROR(batch_text("def f(float(N) A) -> (O) { O(i) += A(i) }", {{"A", 0}}), ArgumentError,
               "'O' of 'f' accumulates into the caller's buffer, which has no batch");
}

TEST(Tangent, Text) {
  EXPECT_EQ(tangent_text("def mm(double(M,K) A, double(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"),
            "def mm_jvp(float64(M, K) A, float64(K, N) B, float64(M, K) t_A, float64(K, N) t_B) -> (t_C) {\n"
            "  t_C(m, n) +=! t_B(k, n) * A(m, k)\n"
            "  t_C(m, n) += t_A(m, k) * B(k, n)\n"
            "}\n");
  EXPECT_EQ(tangent_text("def f(double(N) A, double(N) t_A) -> (O) { O(i) = A(i) * t_A(i) }", {.wrt = {"A"}}),
            "def f_jvp(float64(N) A, float64(N) t_A, float64(N) t_A_1) -> (t_O) {\n"
            "  t_O(i) = t_A_1(i) * t_A(i)\n"
            "}\n");
}

TEST(Tangent, Names) {
  const auto def =
      understand_def("def f(double(N) A, int32(N) K, double s) -> (P, O) { P(i) = K(i)  O(i) = A(i) * s }");
  const auto made = autodiff::tangent(def.function, def.file.text);
  EXPECT_EQ(made.wrt, (std::vector<std::string>{"A", "s"}));
  EXPECT_EQ(made.tangents, (std::vector<std::string>{"t_A", "t_s"}));
  EXPECT_EQ(made.of, std::vector<std::string>{"O"});
}

}  // namespace
}  // namespace tc::test
