#include "tc/lang/syntax/tree.h"

#include <gtest/gtest.h>

#include "tc/base/error.h"
#include "tc/lang/syntax/parse.h"
#include "tc/lang/syntax/print.h"
#include "test/support/expect_error.h"

namespace tc::lang {
namespace {

TEST(Tree, EqualIgnoresPlacesAndImplicitCasts) {
  EXPECT_TRUE(equal(parse_expr("A(i)+1"), parse_expr(" A( i ) + 1")));
  EXPECT_FALSE(equal(parse_expr("A(i)+1"), parse_expr("A(i)+2")));
  EXPECT_FALSE(equal(parse_expr("a-b-c"), parse_expr("a-(b-c)")));
  EXPECT_FALSE(equal(parse_expr("float(a)"), parse_expr("a")));
  auto one = parse_expr("1");
  EXPECT_TRUE(equal(make_expr(Cast{DType::Float32, one, true}), one));
  EXPECT_FALSE(equal(make_expr(Cast{DType::Float32, one, false}), one));
}

TEST(Tree, EqualExpressionsHaveOneHash) {
  for (const char* text : {"A(i) + 1", "a - b * 2.5", "c ? float(a) : -b", "exp(A(i, j)) && true", "A.1"})
    EXPECT_EQ(hash_of(parse_expr(text)), hash_of(parse_expr(text))) << text;
  const auto one = make_expr(IntLiteral{1});
  EXPECT_EQ(hash_of(make_expr(Cast{DType::Float32, one, true})), hash_of(one));
  EXPECT_EQ(hash_of(make_expr(Access{"s", {}, true})), hash_of(parse_expr("s")));
  EXPECT_EQ(hash_of(make_expr(FloatLiteral{-0.0})), hash_of(make_expr(FloatLiteral{0.0})));
  EXPECT_NE(hash_of(parse_expr("a - (b - c)")), hash_of(parse_expr("a - b - c")));
  EXPECT_NE(hash_of(parse_expr("A(i, j)")), hash_of(parse_expr("A(j, i)")));
}

TEST(Tree, BareAccessEqualsName) {
  EXPECT_TRUE(equal(make_expr(Access{"s", {}, true}), parse_expr("s")));
  EXPECT_FALSE(equal(parse_expr("s()"), parse_expr("s")));
}

TEST(Tree, WithChildrenReplacesInOrderOfTheText) {
  auto expr = parse_expr("c ? f(a) : -b");
  auto swapped = with_children(expr, {children(expr)[0], children(expr)[2], children(expr)[1]});
  EXPECT_EQ(print(swapped), "c ? -b : f(a)");
  for (const char* text : {"A(i,j)", "fma(a,b,c)", "float(a)", "-a", "a*b", "c?a:b", "1", "x", "T.0", "true", "1.5"}) {
    auto e = parse_expr(text);
    EXPECT_TRUE(equal(with_children(e, children(e)), e)) << text;
    EXPECT_ERROR(with_children(e, {e, e, e, e}), InternalError, "with_children: 4 sub-expressions given") << text;
  }
}

TEST(Tree, ForEachVisitsParentsFirst) {
  std::string out;
  for_each_expr(parse_expr("A(i+1)*x"), [&](const ExprPtr& e) { out += print(e) + "; "; });
  EXPECT_EQ(out, "A(i + 1) * x; A(i + 1); i + 1; i; 1; x; ");
}

TEST(Tree, LeftIterators) {
  auto file = parse("def f(float(N,M) A) -> (B) { B(i,j) = A(j,i) }");
  EXPECT_EQ(left_iterators(std::get<Assignment>(file.defs[0].statements[0].node)),
            (std::vector<std::string>{"i", "j"}));
}

}  // namespace
}  // namespace tc::lang
