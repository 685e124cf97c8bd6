#include "tc/lang/print.h"

#include <gtest/gtest.h>

#include "tc/lang/parse.h"

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
  const auto file = parse("def f(float(N,2*M)A,half s)->(B,int(N)C){B(i)+=!A(i,j)*s where i in 0:N,x=2*j,exists A(j,i) C,D=g(A) }def g()->(x){}");
  EXPECT_EQ(print(file),
            "def f(float32(N, 2 * M) A, float16 s) -> (B, int32(N) C) {\n"
            "  B(i) +=! A(i, j) * s where i in 0:N, x = 2 * j, exists A(j, i)\n"
            "  C, D = g(A)\n"
            "}\n\n"
            "def g() -> (x) {\n"
            "}\n");
}

}  // namespace
}  // namespace tc::lang
