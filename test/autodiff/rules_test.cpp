#include <gtest/gtest.h>

#include "test/autodiff/gradient_fixture.h"

namespace tc::test {
namespace {

/// A program, compared with finite differences.
struct Rule {
  const char* name;
  const char* text;
  lang::SizeMap sizes = {};
  GradCheck how = {};
};

std::ostream& operator<<(std::ostream& out, const Rule& rule) { return out << rule.text; }

class Rules : public testing::TestWithParam<Rule> {};

TEST_P(Rules, EqualDifferences) { EXPECT_EQ(gradcheck(GetParam().text, GetParam().sizes, GetParam().how), ""); }

TEST_P(Rules, EqualDifferencesByGuards) {
  GradCheck how = GetParam().how;
  how.options.by_guards = true;
  how.certified = false;
  EXPECT_EQ(gradcheck(GetParam().text, GetParam().sizes, how), "");
}

TEST_P(Rules, EqualDifferencesComputedAgain) {
  GradCheck how = GetParam().how;
  how.options.save_outputs = false;
  EXPECT_EQ(gradcheck(GetParam().text, GetParam().sizes, how), "");
}

const auto name_of = [](const auto& test) { return std::string(test.param.name); };

const GradCheck uncertified{.certified = false};

const Rule subscripts[] = {
    {"Transposed", "def f(double(N,M) A) -> (O) { O(j,i) = A(i,j) }", {{"N", 3}, {"M", 2}}},
    {"Diagonal", "def f(double(N,N) A) -> (O) { O(i) = A(i,i) * A(i,i) }", {{"N", 3}}},
    {"Constant", "def f(double(N,M) A) -> (O) { O(j) = A(2,j) * A(0,j) }", {{"N", 4}, {"M", 2}}},
    {"Broadcast", "def f(double(N) b, double(M,N) A) -> (O) { O(m,n) = A(m,n) * b(n) }", {{"N", 3}, {"M", 2}}},
    {"Scalar", "def f(double s, double(N) A) -> (O) { O(n) = A(n) * s }", {{"N", 3}}},
    {"Shifted", "def f(double(N) A) -> (O) { O(i) = A(i+2) * A(i) }", {{"N", 6}}},
    {"ShiftedReturn", "def f(double(N) A) -> (O) { O(i) = exp(A(i-1)) }", {{"N", 4}}},
    {"Reversed", "def f(double(N) A) -> (O) { O(i) = A(N-1-i) * A(i) where i in 0:N }", {{"N", 4}}},
    {"Window", "def f(double(N) A, double(K) w) -> (O) { O(i) +=! A(i+k) * w(k) }", {{"N", 7}, {"K", 3}}},
    {"Strided",
     "def f(double(N) A, double(K) w) -> (O) { O(i) +=! A(3*i+k) * w(k) where k in 0:K }",
     {{"N", 11}, {"K", 4}}},
    {"StridedAlone", "def f(double(N) A) -> (O) { O(i) = A(3*i+1) where i in 0:(N-2)/3+1 }", {{"N", 11}}},
    {"Dilated",
     "def f(double(N) A, double(K) w) -> (O) { O(i) +=! A(i+2*k) * w(k) where k in 0:K }",
     {{"N", 9}, {"K", 3}}},
    {"StridedDilated",
     "def f(double(N) A, double(K) w) -> (O) { O(i) +=! A(2*i+3*k) * w(k) where k in 0:K }",
     {{"N", 14}, {"K", 3}}},
    {"CommonFactor",
     "def f(double(N) A, double(K) w) -> (O) { O(i) +=! A(2*i+4*k) * w(k) where k in 0:K }",
     {{"N", 14}, {"K", 3}}},
    {"NegativeStride",
     "def f(double(N) A, double(K) w) -> (O) { O(i) +=! A(N-1-2*i-k) * w(k) where k in 0:K, i in 0:(N-K)/2+1 }",
     {{"N", 9}, {"K", 3}}},
    {"Skewed", "def f(double(N,N) A) -> (O) { O(i,j) = A(i+j,j) * A(i,i+j) where i in 0:2, j in 0:2 }", {{"N", 4}}},
    {"TwoEquations", "def f(double(N,N) Q) -> (O) { O(i,j) = Q(i+2*j,i+3*j) where i in 0:2, j in 0:3 }", {{"N", 9}}},
    {"Quotient", "def f(double(N) A) -> (O) { O(i) = A(i/3) * i where i in 0:3*N }", {{"N", 3}}},
    {"Remainder", "def f(double(N) A) -> (O) { O(i) = A(i%3) * i where i in 0:8 }", {{"N", 3}}},
    {"PixelShuffle",
     "def f(double(C,H,W) I) -> (O) { O(c,y,x) = I(4*c+2*(y%2)+x%2, y/2, x/2) where c in 0:C/4, y in 0:2*H, x in 0:2*W "
     "}",
     {{"C", 8}, {"H", 2}, {"W", 3}}},
    {"ThreeIterators",
     "def f(double(N) A, double(K,L) w) -> (O) { O(i) +=! A(i+k+2*l) * w(k,l) where k in 0:K, l in 0:L }",
     {{"N", 9}, {"K", 3}, {"L", 2}}},
    {"Upsampled",
     "def f(double(H,W) I) -> (O) { O(y,x) = I(y/2,x/2) where y in 0:2*H, x in 0:2*W }",
     {{"H", 2}, {"W", 3}}},
    {"Replicated",
     "def f(double(N) A) -> (O) { O(i) = A(max(0, min(N-1, i-1))) where i in 0:N+2 }",
     {{"N", 4}},
     uncertified},
    {"SymbolicStride",
     "def f(double(N) A, double(S) w) -> (O) { O(i) = A(S*i) where i in 0:N/S }",
     {{"N", 9}, {"S", 3}},
     uncertified},
    {"Flattened",
     "def f(double(L) A, double(N,M) w) -> (O) { O(i,j) = A(i*M+j) * w(i,j) }",
     {{"L", 6}, {"N", 3}, {"M", 2}},
     uncertified},
    {"Table",
     "def f(double(E,D) T, int32(B,L) index) -> (O) { O(b,d) +=! T(index(b,l),d) }",
     {{"E", 3}, {"D", 2}, {"B", 2}, {"L", 3}},
     {.values = {{"index", {0, 3}}}, .certified = false}},
    {"OfUnsigned",
     "def f(double(E,D) T, uint64(L) I, uint8(L) J) -> (O) { O(l,d) = T(I(l),d) * T(J(l) + 1,d) }",
     {{"E", 4}, {"D", 2}, {"L", 5}},
     uncertified},
    {"TableOfTable",
     "def f(double(E) T, int32(L) I, int64(M) J) -> (O) { O(l) = T(J(I(l))) * T(J(I(l))) }",
     {{"E", 3}, {"L", 4}, {"M", 5}},
     {.values = {{"I", {0, 5}}, {"J", {0, 3}}}, .certified = false}},
    {"Unread", "def f(double(N) A, double(N) B) -> (O) { O(i) = B(i) * floor(A(i)) }", {{"N", 3}}},
    {"RepeatedSum", "def f(double(N) A) -> (O) { O(i) +=! A(i) where c in 0:5 }", {{"N", 3}}},
};
INSTANTIATE_TEST_SUITE_P(Subscripts, Rules, testing::ValuesIn(subscripts), name_of);

const Rule statements[] = {
    {"AssignedAgain",
     "def f(double(N) A) -> (O) { O(i) = exp(A(i))  O(i) = O(i) * A(i)  O(i) = sin(O(i)) }",
     {{"N", 3}}},
    {"InPlacePart",
     "def f(double(N) A) -> (B) { B(i) = A(i)  B(i) = B(i-1)*B(i) + 0.5*B(i+1) where i in 1:N-1  B(i) = B(i)*B(i) "
     "where i in 0:N-1 }",
     {{"N", 6}}},
    {"PartOverwritten",
     "def f(double(N) A, double(N) B) -> (O) { O(i) = A(i)*A(i)  O(i) = B(i) where i in 1:N-1 }",
     {{"N", 5}}},
    {"RowOverwritten",
     "def f(double(N,M) A, double(M) B) -> (O) { O(i,j) = A(i,j)  O(i,j) = B(j)*O(i,j) where i in 0:1 }",
     {{"N", 3}, {"M", 2}}},
    {"Accumulated",
     "def f(double(N,M) A, double(N) B) -> (O) { O(i) = B(i)  O(i) += A(i,j)  O(i) += B(i)*A(i,j) }",
     {{"N", 3}, {"M", 2}}},
    {"AccumulatedPart", "def f(double(N) A) -> (O) { O(i) = A(i)  O(i) += A(i)*A(i) where i in 1:3 }", {{"N", 5}}},
    {"ReadTwice",
     "def f(double(N) A) -> (O, P) { O(i) = exp(A(i))  P(i) = O(i) * A(i)  O(i) = O(i) + P(i) }",
     {{"N", 3}}},
    {"ReturnsRead", "def f(double(N) A) -> (O, P) { O(i) = exp(A(i))  P(i) = O(i) * A(i) }", {{"N", 3}}},
    {"Maximum", "def f(double(N,M) A) -> (O) { O(i) max=! A(i,j) }", {{"N", 3}, {"M", 4}}},
    {"Minimum", "def f(double(N,M) A, double(M) b) -> (O) { O(i) min=! A(i,j)*b(j) }", {{"N", 3}, {"M", 4}}},
    {"MaximumOfGuarded", "def f(double(N,M) A) -> (O) { O(i) max=! j <= i ? A(i,j) : -1e30 }", {{"N", 3}, {"M", 4}}},
    {"MaximumJoined",
     "def f(double(N,M) A, double(N) B) -> (O) { O(i) = B(i)  O(i) max= A(i,j)*2 }",
     {{"N", 3}, {"M", 4}}},
    {"MinimumJoined",
     "def f(double(N,M) A, double(N) B) -> (O) { O(i) = B(i)  O(i) min= A(i,j) }",
     {{"N", 3}, {"M", 4}}},
    {"Product", "def f(double(N,M) A) -> (O) { O(i) *=! A(i,j) + 0.5 }", {{"N", 3}, {"M", 4}}},
    {"ProductJoined", "def f(double(N,M) A, double(N) B) -> (O) { O(i) = B(i)  O(i) *= A(i,j) }", {{"N", 3}, {"M", 3}}},
    {"MaxPool",
     "def f(double(C,H,W) I) -> (O) { O(c,h,w) max=! I(c,2*h+kh,2*w+kw) where kh in 0:3, kw in 0:3 }",
     {{"C", 2}, {"H", 7}, {"W", 5}}},
    {"FullSum", "def f(double(N,M) A) -> (s) { s +=! A(i,j) * A(i,j) }", {{"N", 3}, {"M", 2}}},
    {"Empty", "def f(double(N,M) A) -> (O) { O(i) max=! A(i,j) }", {{"N", 2}, {"M", 0}}},
    {"Calls",
     "def g(double(N) X) -> (Y) { Y(i) = exp(X(i)) }\ndef f(double(N) X) -> (Z) { A = g(X)  Z(i) = A(i) * X(i) }",
     {{"N", 3}}},
    {"Lets", "def f(double(N) X) -> (Z) { Z(i) = c * c * X(i) where c = X(i) + 1 }", {{"N", 3}}},
    {"LogSumExp",
     "def f(double(N,D) X) -> (O) { m(n) max=! X(n,d)  s(n) +=! exp(X(n,d) - m(n))  O(n) = log(s(n)) + m(n) }",
     {{"N", 3}, {"D", 4}}},
    {"CausalSoftmax",
     "def f(double(L,S) X) -> (O) { m(l) max=! s <= l ? X(l,s) : -1e30  t(l) +=! s <= l ? exp(X(l,s) - m(l)) : 0\n"
     "  O(l,s) = s <= l ? exp(X(l,s) - m(l)) / t(l) : 0 }",
     {{"L", 3}, {"S", 3}}},
    {"NoStabiliser",
     "def f(double(N,D) X) -> (O) { m(n) max=! X(n,d)  O(n) = m(n) - m(N-1-n) * 0.5 where n in 0:N }",
     {{"N", 3}, {"D", 4}}},
    {"ShiftAcrossRows",
     "def f(double(N,D) X) -> (O) { m(n) max=! X(n,d)  O(n) = m(n) - m(N-1-n) where n in 0:N }",
     {{"N", 3}, {"D", 4}}},
    {"CrossEntropy",
     "def f(double(N,D) X, int32(N) T) -> (loss) { m(n) max=! X(n,d)  s(n) +=! exp(X(n,d) - m(n))\n"
     "  loss +=! (log(s(n)) + m(n) - X(n,T(n))) / N }",
     {{"N", 3}, {"D", 4}},
     {.values = {{"T", {0, 4}}}, .certified = false}},
};
INSTANTIATE_TEST_SUITE_P(Statements, Rules, testing::ValuesIn(statements), name_of);

const Rule guards[] = {
    {"Padded",
     "def f(double(N) A) -> (O) { O(i) = (i >= 1 && i <= N) ? A(i-1)*A(i-1) : 0 where i in 0:N+2 }",
     {{"N", 4}}},
    {"BothArms", "def f(double(N) A) -> (O) { O(i) = i < 2 ? A(i)*A(i) : sin(A(i)) }", {{"N", 4}}},
    {"OnData", "def f(double(N) A, double(N) B) -> (O) { O(i) = A(i) > 0 ? A(i)*B(i) : B(i) }", {{"N", 6}}},
    {"NamedLikeAdjoints",
     "def f(double(N,M) X, double(M) w) -> (O) { t(d_X) +=! X(d_X,n_O) * w(n_O)  O(d_X) max=! t(d_X) * X(d_X,s_t) }",
     {{"N", 3}, {"M", 4}}},
    {"NamedLikeFunctions",
     "def g(double(N,C) X) -> (O) { v(f) +=! X(f,c) * X(f,c)  O(f,c) = X(f,c) * rsqrt(v(f) + 1e-5) }",
     {{"N", 3}, {"C", 4}}},
    {"OnMask", "def f(double(N) A, int32(N) M) -> (O) { O(i) = M(i) == 1 ? A(i)*A(i) : A(i) }", {{"N", 6}}},
    {"Nested",
     "def f(double(N) A) -> (O) { O(i) = A(i) > 0 ? (A(i) > 0.5 ? A(i)*A(i) : A(i)) : (i > 2 ? 3*A(i) : 0) }",
     {{"N", 8}}},
    {"ProtectsRoot", "def f(double(N) A) -> (O) { O(i) = A(i) > 0.1 ? sqrt(A(i)) : A(i) }", {{"N", 8}}},
    {"Selected", "def f(double(N) A, double(N) B) -> (O) { O(i) = select(A(i) > B(i), A(i)*B(i), B(i)) }", {{"N", 6}}},
    {"Fold",
     "def f(double(N) A, double(K) w) -> (O) { O(i) +=! (i-k >= 0 && i-k < N) ? A(i-k)*w(k) : 0 where i in 0:N+K-1 }",
     {{"N", 4}, {"K", 3}}},
    {"Integers",
     "def f(double(N) A, int32(N) B) -> (O) { O(i) = A(i) * B(i) + N * A(i) / 2 + A(i) / (B(i) + 3) }",
     {{"N", 4}}},
    {"IndexAsValue", "def f(double(N) A) -> (O) { O(i) = A(i) * i + double(i) / N }", {{"N", 4}}},
    {"Conversions", "def f(double(N) A) -> (O) { O(i) = double(int32(A(i)*10)) * A(i) }", {{"N", 4}}},
};
INSTANTIATE_TEST_SUITE_P(Guards, Rules, testing::ValuesIn(guards), name_of);

/// A function of one argument on a part of its domain.
struct Curve {
  const char* expression;
  ValueRule domain = {-0.9, 0.9};
};

class Functions : public testing::TestWithParam<Curve> {};

TEST_P(Functions, EqualDifferences) {
  const std::string text =
      std::string("def f(double(N) X, double(N) Y) -> (O) { O(i) = ") + GetParam().expression + " }";
  GradCheck how{.values = {{"X", GetParam().domain}, {"Y", {0.2, 0.9}}}};
  how.tolerance = 1e-5;
  EXPECT_EQ(gradcheck(text, {{"N", 12}}, how), "");
}

const Curve curves[] = {
    {"exp(X(i))"},
    {"exp2(X(i))"},
    {"exp10(X(i))"},
    {"expm1(X(i))"},
    {"log(X(i))", {0.1, 2}},
    {"log2(X(i))", {0.1, 2}},
    {"log10(X(i))", {0.1, 2}},
    {"log1p(X(i))"},
    {"sqrt(X(i))", {0.1, 2}},
    {"rsqrt(X(i))", {0.1, 2}},
    {"cbrt(X(i))", {0.1, 2}},
    {"rcbrt(X(i))", {0.1, 2}},
    {"sin(X(i))"},
    {"cos(X(i))"},
    {"tan(X(i))"},
    {"asin(X(i))"},
    {"acos(X(i))"},
    {"atan(X(i))"},
    {"sinh(X(i))"},
    {"cosh(X(i))"},
    {"tanh(X(i))"},
    {"asinh(X(i))"},
    {"acosh(X(i))", {1.2, 3}},
    {"atanh(X(i))"},
    {"sinpi(X(i))"},
    {"cospi(X(i))"},
    {"sigmoid(X(i))"},
    {"softplus(X(i))"},
    {"silu(X(i))", {-4, 4}},
    {"gelu(X(i))", {-4, 4}},
    {"erf(X(i))"},
    {"erfc(X(i))"},
    {"erfcx(X(i))"},
    {"erfinv(X(i))"},
    {"erfcinv(X(i))", {0.2, 1.8}},
    {"normcdf(X(i))"},
    {"normcdfinv(X(i))", {0.1, 0.9}},
    {"j0(X(i))"},
    {"j1(X(i))", {-4, 4}},
    {"y0(X(i))", {0.5, 4}},
    {"y1(X(i))", {0.5, 4}},
    {"cyl_bessel_i0(X(i))"},
    {"cyl_bessel_i1(X(i))"},
    {"abs(X(i))"},
    {"fabs(X(i))"},
    {"relu(X(i))"},
    {"max(X(i), Y(i))"},
    {"min(X(i), Y(i))"},
    {"fmax(X(i), Y(i))"},
    {"fmin(X(i), 0.3)"},
    {"clamp(X(i), Y(i)-0.5, Y(i))"},
    {"pow(X(i), Y(i))", {0.1, 2}},
    {"pow(X(i), 2)"},
    {"pow(X(i), 3.0)"},
    {"fmod(X(i), Y(i))", {1, 1.15}},
    {"remainder(X(i), 2*Y(i)+3)"},
    {"X(i) % 0.7", {0.75, 1.3}},
    {"fdim(X(i), Y(i))"},
    {"copysign(X(i), Y(i)-0.5)"},
    {"hypot(X(i), Y(i))"},
    {"rhypot(X(i), Y(i))"},
    {"norm3d(X(i), Y(i), X(i))"},
    {"rnorm3d(X(i), Y(i), 1)"},
    {"norm4d(X(i), Y(i), X(i), 2)"},
    {"rnorm4d(X(i), Y(i), X(i), 2)"},
    {"atan2(X(i), Y(i))"},
    {"atan2(Y(i), X(i))"},
    {"fma(X(i), Y(i), X(i))"},
    {"fdivide(X(i), Y(i))"},
    {"X(i)/Y(i)/(X(i)+2)"},
    {"-X(i)-(-Y(i))"},
    {"1/(1+exp(-X(i)))"},
    {"5/Y(i) + 7/2*X(i)"},
    {"floor(X(i))*X(i) + ceil(Y(i)) + round(X(i)) + trunc(X(i))"},
};
INSTANTIATE_TEST_SUITE_P(All, Functions, testing::ValuesIn(curves));

}  // namespace
}  // namespace tc::test
