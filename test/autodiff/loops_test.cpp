#include <gtest/gtest.h>

#include "tc/autodiff/tangent.h"
#include "tc/base/error.h"
#include "tc/lang/syntax/print.h"
#include "test/autodiff/gradient_fixture.h"
#include "test/support/expect_error.h"

namespace tc::test {
namespace {

struct Recurrence {
  const char* name;
  const char* text;
  lang::SizeMap sizes;
};

class Recurrences : public testing::TestWithParam<Recurrence> {};

TEST_P(Recurrences, EqualDifferences) {
  for (const bool by_guards : {false, true})
    for (const bool save : {false, true}) {
      GradCheck how{.certified = !by_guards};
      how.options = {.save_outputs = save, .by_guards = by_guards};
      EXPECT_EQ(gradcheck(GetParam().text, GetParam().sizes, how), "") << by_guards << save;
    }
}

TEST_P(Recurrences, OfFewSteps) {
  lang::SizeMap sizes = GetParam().sizes;
  const bool has_first = std::string(GetParam().text).find("in 1:T") != std::string::npos;
  for (const std::int64_t length : {0, 1, 2}) {
    sizes["T"] = length;
    if (length == 0 && has_first) continue;
    EXPECT_EQ(gradcheck(GetParam().text, sizes), "") << length;
  }
}

TEST_P(Recurrences, GradientsOfGradientsEqualDifferences) {
  const std::string text = lang::print(gradient_of(GetParam().text, {.save_outputs = false}).def());
  EXPECT_EQ(gradcheck(text, GetParam().sizes, {.certified = false}), "");
}

const Recurrence recurrences[] = {
    {"Decayed",
     "def f(double(T,N) X, double(N) a) -> (H) { for t in 0:T { H(t,n) = X(t,n) + (t >= 1 ? a(n) * H(t-1,n) : 0) } }",
     {{"T", 4}, {"N", 3}}},
    {"Tanh",
     "def f(double(T,N) X, double(N) a, double(N) s) -> (H) {\n"
     "  for t in 0:T { H(t,n) = tanh(a(n) * (t >= 1 ? H(t-1,n) : s(n)) + X(t,n)) } }",
     {{"T", 4}, {"N", 3}}},
    {"Recurrent",
     "def f(double(T,B,I) X, double(H,I) W, double(H,H) U) -> (double(T,B,H) Y) {\n"
     "  for t in 0:T {\n"
     "    G(t,b,h) +=! W(h,i) * X(t,b,i)\n"
     "    R(t,b,h) +=! U(h,k) * (t >= 1 ? Y(t-1,b,k) : 0)\n"
     "    Y(t,b,h) = tanh(G(t,b,h) + R(t,b,h))\n"
     "  } }",
     {{"T", 3}, {"B", 2}, {"I", 2}, {"H", 3}}},
    {"RecurrentInPlace",
     "def f(double(T,I) X, double(H,I) W, double(H,H) U) -> (double(T,H) Y) {\n"
     "  for t in 0:T {\n"
     "    Y(t,h) +=! W(h,i) * X(t,i)\n"
     "    Y(t,h) += U(h,k) * (t >= 1 ? Y(t-1,k) : 0)\n"
     "    Y(t,h) = sin(Y(t,h))\n"
     "  } }",
     {{"T", 3}, {"I", 2}, {"H", 3}}},
    {"FirstStep",
     "def f(double(T,N) X, double(N) s, double(N,N) U) -> (double(T,N) H) {\n"
     "  H(t,n) = s(n) where t in 0:T\n"
     "  for t in 1:T {\n"
     "    A(t,n) +=! U(n,m) * H(t-1,m)\n"
     "    H(t,n) = sigmoid(A(t,n) + X(t,n)) * A(t,n)\n"
     "  } }",
     {{"T", 4}, {"N", 2}}},
    {"Fibonacci",
     "def f(double(T) X, double a) -> (H) {\n"
     "  for t in 0:T { H(t) = X(t) + (t >= 1 ? a * H(t-1) : 0) + (t >= 2 ? 0.5 * H(t-2) * H(t-1) : 0) } }",
     {{"T", 5}}},
    {"TwoWays",
     "def f(double(T,N) X, double a) -> (H) {\n"
     "  for t in 0:T { for n in 0:N {\n"
     "    H(t,n) = sin(X(t,n) + (t >= 1 ? a * H(t-1,n) : 0) + (n >= 1 ? 0.5 * H(t,n-1) : 0) + (t >= 1 && n < N-1 ? "
     "H(t-1,n+1) : 0))\n"
     "  } } }",
     {{"T", 3}, {"N", 3}}},
    {"Cells",
     "def f(double(T,N) X, double(G,N,N) U, double(G,N) b) -> (double(T,N) H, double(T,N) C) {\n"
     "  for t in 0:T {\n"
     "    A(t,g,n) +=! U(g,n,m) * (t >= 1 ? H(t-1,m) : 0)\n"
     "    S(t,g,n) = sigmoid(A(t,g,n) + b(g,n) + X(t,n))\n"
     "    C(t,n) = S(t,0,n) * (t >= 1 ? C(t-1,n) : 0) + S(t,1,n) * tanh(A(t,2,n))\n"
     "    H(t,n) = S(t,2,n) * tanh(C(t,n))\n"
     "  } }",
     {{"T", 3}, {"N", 2}, {"G", 3}}},
    {"Selective",
     "def f(double(T,D) X, double(T,D) dt, double(D,S) A, double(T,S) B, double(T,S) C) -> (Y) {\n"
     "  for t in 0:T { H(t,d,s) = exp(dt(t,d) * A(d,s)) * (t >= 1 ? H(t-1,d,s) : 0) + dt(t,d) * B(t,s) * X(t,d) }\n"
     "  Y(t,d) +=! C(t,s) * H(t,d,s) }",
     {{"T", 3}, {"D", 2}, {"S", 2}}},
    {"ReadLater",
     "def f(double(T,N) X, double(N,N) W) -> (S) {\n"
     "  for t in 0:T { H(t,n) = sin(X(t,n)) + (t >= 1 ? 0.5 * H(t-1,n) : 0) }\n"
     "  for t in 0:T { G(t,n) = H(T-1-t,n) + (t >= 1 ? G(t-1,N-1-n) * H(t,n) : 0) }\n"
     "  S(n) +=! W(n,m) * H(t,m) * G(t,n) }",
     {{"T", 3}, {"N", 3}}},
    {"RunningMaximum",
     "def f(double(T,N) X) -> (H) { for t in 0:T { H(t,n) = t >= 1 ? max(X(t,n), H(t-1,n)) : X(t,n) } }",
     {{"T", 4}, {"N", 3}}},
    {"SoftmaxOfSteps",
     "def f(double(T,N) X, double(N,N) U) -> (double(T,N) P) {\n"
     "  for t in 0:T {\n"
     "    A(t,n) +=! U(n,m) * (t >= 1 ? P(t-1,m) : 1)\n"
     "    A(t,n) = A(t,n) * X(t,n)\n"
     "    top(t) max=! A(t,n)\n"
     "    e(t,n) = exp(A(t,n) - top(t))\n"
     "    z(t) +=! e(t,n)\n"
     "    P(t,n) = e(t,n) / z(t)\n"
     "  } }",
     {{"T", 3}, {"N", 3}}},
};

INSTANTIATE_TEST_SUITE_P(Loops, Recurrences, testing::ValuesIn(recurrences),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(GradientsOfLoops, RunTheOtherWay) {
  EXPECT_EQ(lang::print(gradient_of(recurrences[0].text).def()),
            "def f_grad(float64(T, N) X, float64(N) a, float64(T, N) H, float64(T, N) d_H) -> (d_X, d_a) {\n"
            "  for t in 0:T {\n"
            "    d_H_sum(t, n) = (t >= 1 ? d_H_sum(t - 1, n) * a(n) : 0) + d_H(T - t - 1, n) where n in 0:N\n"
            "  }\n"
            "  d_X(t, n) = d_H_sum(T - t - 1, n)\n"
            "  d_a(n) +=! t >= 1 ? d_H_sum(T - t - 1, n) * H(t - 1, n) : 0 where t in 0:T\n"
            "}\n");
  EXPECT_EQ(
      lang::print(gradient_of(recurrences[2].text).def()),
      "def f_grad(float64(T, B, I) X, float64(H, I) W, float64(H, H) U, float64(T, B, H) Y, float64(T, B, H) d_Y) -> "
      "(d_X, d_W, d_U) {\n"
      "  d_R(t, b, h) = float64(0) where t in 0:T, b in 0:B, h in 0:H\n"
      "  for t in 0:T {\n"
      "    d_Y_sum(t, b, k) +=! t >= 1 ? d_R(t - 1, b, h) * U(h, k) : 0 where b in 0:B, k in 0:H, h in 0:H\n"
      "    d_Y_sum(t, b, k) += d_Y(T - t - 1, b, k) where b in 0:B, k in 0:H\n"
      "    d_R(t, b, h) = d_Y_sum(t, b, h) * (1 - Y(T - t - 1, b, h) * Y(T - t - 1, b, h)) where b in 0:B, h in 0:H\n"
      "  }\n"
      "  d_G(t, b, h) = d_R(T - t - 1, b, h)\n"
      "  d_X(t, b, i) +=! d_G(t, b, h) * W(h, i)\n"
      "  d_W(h, i) +=! d_G(t, b, h) * X(t, b, i)\n"
      "  d_U(h, k) +=! d_R(T - t - 1, b, h) * (t >= 1 ? Y(t - 1, b, k) : 0)\n"
      "}\n");
}

TEST(GradientsOfLoops, ExtremesThatStabiliseAreLeftOut) {
  EXPECT_EQ(lang::print(gradient_of(recurrences[11].text).def()).find("d_top"), std::string::npos);
}

TEST(GradientsOfLoops, ReadsOfOldAndNewElementsAreRefused) {
  EXPECT_ERROR(gradient_of("def f(double(T) X) -> (double(T) H) { H(t) = X(t)  G(t) = H(t)\n"
                           "  for t in 0:T { G(t) = H(T-1-t)  H(t) = G(t) * 2 } }"),
               SemanticError, "at elements that are not at a constant distance");
}

}  // namespace
}  // namespace tc::test
