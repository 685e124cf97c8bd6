#include "tc/lang/syntax/print.h"

#include <gtest/gtest.h>

#include "tc/lang/syntax/parse.h"

namespace tc::lang {
namespace {

TEST(Print, FewestParentheses) {
  const std::pair<const char*, const char*> rows[] = {
      {"((a))", "a"},
      {"(a*b)+c", "a * b + c"},
      {"a*(b+c)", "a * (b + c)"},
      {"a-(b-c)", "a - (b - c)"},
      {"(a-b)-c", "a - b - c"},
      {"a/(b*c)", "a / (b * c)"},
      {"-(a*b)", "-(a * b)"},
      {"(-a)*b", "-a * b"},
      {"!(a<b)", "!(a < b)"},
      {"(a<b)!=(c<d)", "(a < b) != (c < d)"},
      {"(a?b:c)?d:(e?f:g)", "(a ? b : c) ? d : e ? f : g"},
      {"a?(b?c:d):e", "a ? b ? c : d : e"},
      {"(a||b)&&c", "(a || b) && c"},
      {"a||(b&&c)", "a || b && c"},
      {"1+(a?b:c)", "1 + (a ? b : c)"},
      {"float(a+b)", "float32(a + b)"},
      {"min(a,b)%3", "min(a, b) % 3"},
      {"s()", "s()"},
      {"1e3+3E-5", "1e3 + 3E-5"},
  };
  for (const auto& [text, expected] : rows) EXPECT_EQ(print(parse_expr(text)), expected) << text;
}

TEST(Print, SkipsImplicitCasts) {
  auto expr = parse_expr("a+b");
  auto cast = make_expr(Cast{DType::Float64, expr, true});
  EXPECT_EQ(print(make_expr(Binary{BinaryOp::Mul, cast, cast})), "(a + b) * (a + b)");
}

TEST(Print, FloatsWithoutText) {
  EXPECT_EQ(print(make_expr(FloatLiteral{2, ""})), "2.0");
  EXPECT_EQ(print(make_expr(FloatLiteral{0.1, ""})), "0.1");
  EXPECT_EQ(print(make_expr(FloatLiteral{1e300, ""})), "1e+300");
}

TEST(Print, Def) {
  const auto file = parse(
      "def f(float(N,2*M)A,half s)->(B,int(N)C){B(i)+=!A(i,j)*s where i in 0:N,x=2*j,exists A(j,i) C,D=g(A) }def "
      "g()->(x){}");
  EXPECT_EQ(print(file),
            "def f(float32(N, 2 * M) A, float16 s) -> (B, int32(N) C) {\n"
            "  B(i) +=! A(i, j) * s where i in 0:N, x = 2 * j, exists A(j, i)\n"
            "  C, D = g(A)\n"
            "}\n\n"
            "def g() -> (x) {\n"
            "}\n");
}

std::string canonical(const std::string& text) { return canonical_text(parse(text).defs.at(0)); }

TEST(Canonical, OneLineInOrderOfAppearance) {
  EXPECT_EQ(
      canonical(
          "def f(float(N) A, float s) -> (B) { T(i) = exp(A(i)) * s  B +=! T(k) * x where k in 0:N, x = A(k) + A.0 }"),
      "def i0(float32(i1) i2, float32 i3) -> (i4) { i5(i6) = exp(i2(i6)) * i3; "
      "i4 +=! i5(i7) * i8 where i7 in 0:i1, i8 = i2(i7) + i2.0 }");
  EXPECT_EQ(canonical("def f() -> (B) {}"), "def i0() -> (i1) { }");
}

TEST(Canonical, NamesSayWhereIdentifiersAppear) {
  auto def = parse("def f(float(N) A) -> (B, C) { B(i) = A(i)  C(i) +=! B(k) where i in 0:N }").defs.at(0);
  EXPECT_EQ(canonical_text(def),
            "def i0(float32(i1) i2) -> (i3, i4) { i3(i5) = i2(i5); i4(i6) +=! i3(i7) where i6 in 0:i1 }");
  const std::map<std::string, std::vector<std::string>> expected = {
      {"f", {"i0"}}, {"N", {"i1"}}, {"A", {"i2"}}, {"B", {"i3"}}, {"C", {"i4"}}, {"i", {"i5", "i6"}}, {"k", {"i7"}}};
  EXPECT_EQ(canonical_names(def), expected);
}

TEST(Canonical, EqualUpToRenaming) {
  const std::string text = canonical("def f(float(B,N,K) X, float(B,K,M) Y) -> (Z) { Z(b,i,j) += X(b,i,k)*Y(b,k,j) }");
  EXPECT_EQ(text,
            canonical("def g(float(Q,R,S) I, float(Q,S,T) W) -> (O) { O(n,x,y) += I(n,x,z) * (W(n,z,y)) # no\n }"));
  EXPECT_NE(text, canonical("def f(float(B,N,K) X, float(B,K,M) Y) -> (Z) { Z(b,j,i) += X(b,i,k)*Y(b,k,j) }"));
  EXPECT_NE(text, canonical("def f(float(B,N,K) X, float(B,L,M) Y) -> (Z) { Z(b,i,j) += X(b,i,k)*Y(b,k,j) }"));
  EXPECT_NE(text, canonical("def f(float(B,N,K) X, float(B,K,M) Y) -> (Z) { Z(b,i,j) +=! X(b,i,k)*Y(b,k,j) }"));
  EXPECT_NE(text, canonical("def f(float(B,N,K) X, double(B,K,M) Y) -> (Z) { Z(b,i,j) += X(b,i,k)*Y(b,k,j) }"));
}

TEST(Canonical, IndicesAreLocalToTheirStatement) {
  EXPECT_EQ(canonical("def f(float(N) A) -> (B, C) { B(i) = A(i) C(i) = B(i) }"),
            canonical("def f(float(N) A) -> (B, C) { B(i) = A(i) C(j) = B(j) }"));
  EXPECT_EQ(canonical("def f(float a) -> (b) { b() = a() }"), canonical("def f(float a) -> (b) { b = a }"));
}

}  // namespace
}  // namespace tc::lang
