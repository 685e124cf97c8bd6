#include <gtest/gtest.h>

#include "tc/base/str.h"
#include "tc/halide_bridge/infer/infer_ranges.h"
#include "tc/lang/check/check.h"
#include "tc/lang/syntax/parse.h"
#include "tc/lang/syntax/print.h"
#include "test/autodiff/gradient_fixture.h"

namespace tc::test {
namespace {

using autodiff::Gradient;
using autodiff::Options;

/// The errors of differentiating \p text.
std::string errors_of(const std::string& text, const Options& options = {}) {
  try {
    gradient_of(text, options);
  } catch (const SemanticError& error) {
    return error.what();
  }
  return "";
}

TEST(Differentiate, SaysWhatItCannotDo) {
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(errors_of("def f(int32(N) A) -> (O) { O(i) = A(i) + 1 }"), "TC301");
  has(errors_of("def f(float(N) A, int32(N) B) -> (O) { O(i) = A(i) * B(i) }", {.wrt = {"B"}}), "'B' is int32");
  has(errors_of("def f(float(N) A) -> (O) { O(i) = lgamma(A(i)) + tgamma(A(i)) }"), "no derivative of 'tgamma'");
  has(errors_of("def f(float(N) A) -> (O) { O(i) = lgamma(A(i)) + tgamma(A(i)) }"), "no derivative of 'lgamma'");
  has(errors_of("def f(float(N) In) -> (O) { O(i) = In(i) }", {.wrt = {"in"}}), "did you mean 'In'?");
  has(errors_of("def f(float(N) A) -> (O) { O(i) = A(i) }", {.of = {"P"}}), "no return 'P'");
  const std::string scaled = "def f(float(N) A, float b) -> (float(N) O) { O(i) = b * O(i) + A(i) }";
  has(errors_of(scaled), "TC306");
  has(errors_of("def f(float(N,N) L, float(N) b) -> (float(N) x) {"
                " for i in 0:N { s(i) +=! j < i ? L(i,j) * x(j) : 0 where j in 0:N  x(i) = b(i) - s(i) } }"),
      "TC308");
  has(errors_of("def f(float(M,N) A) -> (float(M) O) { O(i) max= A(i,j) }"),
      "the values of 'O' that the def overwrites");
  has(errors_of("def f(float(N) A) -> (float(N) O, P) { O(i) += A(i)  P(i) = O(i) * O(i) }", {.save_outputs = false}),
      "TC306");
}

TEST(Differentiate, TheTensorOfTheCallerHasAGradient) {
  EXPECT_EQ(gradient_text("def f(float(M,N) A) -> (float(M) O) { O(i) += A(i,j) }"),
            "d_A(i, j) = d_O(i) where j in 0:N\nd_O_old(i) = d_O(i)\n");
  const std::string scaled = "def f(float(N) A, float b) -> (float(N) O) { O(i) = b * O(i) + A(i) }";
  EXPECT_EQ(gradient_text(scaled, {.wrt = {"O"}}), "d_O_old(i) = d_O(i) * b\n");
  const Gradient gradient = gradient_of(scaled, {.wrt = {"A", "O"}});
  EXPECT_EQ(gradient.wrt, (std::vector<std::string>{"A", "O"}));
  const std::string store = "def f(int32(B) p, float(B,D) A) -> (float(9,D) O) { O(p(b),d) = A(b,d) }";
  EXPECT_NE(gradient_text(store, {.wrt = {"O"}}).find("== int64(-9223372036854775808) ? d_O(q, d) : 0"),
            std::string::npos);
  EXPECT_EQ(gradient_text("def f(int32(B) p, float(B,D) A) -> (float(9,D) O) { O(p(b),d) += A(b,d) }", {.wrt = {"A"}}),
            "d_A(b, d) +=! p(b) == q ? d_O(q, d) : 0\n");
}

TEST(Differentiate, TakesWhatIsAskedFor) {
  const std::string text = "def f(float(N) A, float(N) B) -> (O, P) { O(i) = A(i) * B(i)  P(i) = exp(B(i)) }";
  const Gradient gradient = gradient_of(text, {.wrt = {"B"}, .of = {"P"}});
  EXPECT_EQ(print(gradient.def()),
            "def f_grad(float32(N) A, float32(N) B, float32(N) P, float32(N) d_P) -> (d_B) {\n"
            "  d_B(i) = d_P(i) * P(i)\n}\n");
  EXPECT_EQ(gradient.saved, std::vector<std::string>{"P"});
  EXPECT_EQ(gradient_text(text, {.wrt = {"A"}}), "d_A(i) = d_O(i) * B(i)\n");
}

TEST(Differentiate, ComputesAgainWhatIsNotSaved) {
  EXPECT_EQ(gradient_text("def f(float(N) A) -> (O) { O(i) = exp(A(i)) }", {.save_outputs = false}),
            "O(i) = exp(A(i))\nd_A(i) = d_O(i) * O(i)\n");
}

TEST(Differentiate, GivesZeroWhereNothingReachesTheReturn) {
  EXPECT_EQ(gradient_text("def f(float(N) A, double(M) B) -> (O) { O(i) = floor(A(i)) }"),
            "d_A(i0) = float32(0) where i0 in 0:N\nd_B(i0) = float64(0) where i0 in 0:M\n");
}

TEST(Differentiate, SumsHalvesInFloat32) {
  EXPECT_EQ(gradient_text("def f(half(M,K) A, half(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"),
            "d_A(m, k) +=! d_C(m, n) * B(k, n)\nd_B(k, n) +=! d_C(m, n) * A(m, k)\n");
  EXPECT_EQ(
      gradient_text("def f(half(N) A, half(M,N) B) -> (O, P) { O(i) = A(i) * A(i)  P(m,i) = A(i) * B(m,i) }",
                    {.wrt = {"A"}}),
      "s_A(i) +=! float32(d_P(m, i)) * B(m, i)\ns_A(i) += 2 * float32(d_O(i)) * A(i)\nd_A(i) = float16(s_A(i))\n");
}

TEST(Differentiate, KeepsTheTypeOfEachTensor) {
  const Gradient gradient =
      gradient_of("def f(float(N) A, double(N) B, half(N) C) -> (O) { T(i) = A(i) * C(i)  O(i) = T(i) * B(i) + 1 }");
  EXPECT_EQ(gradient.def().tensors.at("d_A").type, DType::Float32) << print(gradient.def());
  EXPECT_EQ(gradient.def().tensors.at("d_B").type, DType::Float64) << print(gradient.def());
  EXPECT_EQ(gradient.def().tensors.at("d_C").type, DType::Float16) << print(gradient.def());
}

TEST(Differentiate, SharesTiesOfExtremes) {
  EXPECT_EQ(gradient_text("def f(float(N,M) A) -> (O) { O(i) max=! A(i,j) }"),
            "n_O(i) +=! A(i, j) == O(i) ? float32(1) : 0\nd_A(i, j) = A(i, j) == O(i) ? d_O(i) / n_O(i) : 0\n");
}

TEST(Differentiate, ComputesAgainWhatItComparesWithWhatItComputesAgain) {
  const auto saved = [](const std::string& text) { return gradient_of(text).saved; };
  const std::string distances = "Q(n,m) +=! (X(n,d) - Y(m,d)) * (X(n,d) - Y(m,d))  Z(n) min=! Q(n,m)";
  const std::string inputs = "def f(float(N,D) X, float(M,D) Y, float(M) W) -> ";
  EXPECT_EQ(saved(str(inputs, "(Z) { ", distances, " }")), std::vector<std::string>());
  EXPECT_EQ(saved(str(inputs, "(Q, Z) { ", distances, " }")), (std::vector<std::string>{"Q", "Z"}));
  EXPECT_EQ(saved(str(inputs, "(Z, O) { ", distances, "  O(n) +=! Q(n,m) <= Z(n) ? W(m) : 0 }")),
            std::vector<std::string>());
  EXPECT_EQ(saved(str(inputs, "(Z, O) { ", distances, "  G(n,m) = Q(n,m) / Z(n)  O(n) +=! floor(G(n,m)) * W(m) }")),
            std::vector<std::string>());
  EXPECT_EQ(saved("def f(float(N,D) X) -> (S, O) { S(n) +=! X(n,d)  O(n) = S(n) > 0 ? exp(S(n)) : S(n) }"),
            (std::vector<std::string>{"S"}));
}

TEST(Differentiate, GivesADefThatCanBeDifferentiatedAgain) {
  for (const char* text : {"def f(double(M,K) A, double(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
                           "def f(double(N) A, double(K) w) -> (O) { O(i) +=! A(i+k) * w(k) }",
                           "def f(double(N) A) -> (O) { O(i) = A(i) > 0 ? sin(A(i)) : A(i)*A(i)*A(i) }",
                           "def f(double(N,D) I) -> (O) { t(n) max=! I(n,d)  s(n) +=! exp(I(n,d) - t(n))"
                           "  O(n,d) = exp(I(n,d) - t(n)) / s(n) }"}) {
    const Gradient first = gradient_of(text, {.save_outputs = false});
    EXPECT_EQ(gradcheck(print(first.def()), {{"M", 2}, {"K", 3}, {"N", 5}, {"D", 4}},
                        {.tolerance = 1e-5, .certified = false}),
              "")
        << print(first.def());
  }
}

TEST(Differentiate, SaysWhatCostsTime) {
  const Gradient gradient = gradient_of("def f(float(E) T) -> (O) { O(l) = T(l * l) where l in 0:3 }");
  ASSERT_EQ(gradient.notes.size(), 1u);
  EXPECT_NE(gradient.notes[0].find("T(l * l)"), std::string::npos);
  EXPECT_TRUE(gradient_of("def f(float(E) T, int32(L) index) -> (O) { O(l) = T(index(l)) }").notes.empty());
}

/// What is printed is what is checked: faults in the text are found by the numbers.
TEST(Comparison, FindsPlantedFaults) {
  const std::string text =
      "def f(double(N) A, double(K) w) -> (O) { O(i) +=! A(2*i+k) * w(k) where k in 0:K  O(i) = relu(O(i)) }";
  const UnderstoodDef def = understand_def(text);
  const lang::SizeMap sizes{{"N", 9}, {"K", 3}};
  const std::string good = print(autodiff::differentiate(def.function, text).def());
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string bad = good;
    const auto at = bad.find(from);
    EXPECT_NE(at, std::string::npos) << from << " in\n" << good;
    return at == std::string::npos ? bad : bad.replace(at, from.size(), to);
  };
  const auto compare = [&](const std::string& backward) {
    Gradient gradient = autodiff::differentiate(def.function, text);
    gradient.file = lang::check(lang::parse(backward));
    gradient.ranges = halide_bridge::infer_ranges(gradient.file.defs.front(), backward);
    return compare_with_differences(def, gradient, sizes, {});
  };
  EXPECT_EQ(compare(good), "");
  EXPECT_NE(compare(replaced("t + 2 * q < K", "t + 2 * q < K && t == 0")), "") << "a residue is left out";
  EXPECT_NE(compare(replaced("* w(", "* 0.5 * w(")), "") << "a factor is wrong";
  EXPECT_NE(compare(replaced("O(i) > 0 ?", "O(i) < 0 ?")), "") << "a condition is turned round";
  EXPECT_NE(compare(replaced("(K + 1) / 2", "K / 2")), "") << "a term is lost";
}

}  // namespace
}  // namespace tc::test
