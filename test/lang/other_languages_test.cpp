#include "tc/lang/syntax/other_languages.h"

#include <gtest/gtest.h>

#include "tc/base/str.h"
#include "tc/lang/check/check.h"
#include "tc/lang/syntax/parse.h"

namespace tc::lang::other_languages_test {
namespace {

ExprPtr name(const std::string& id) { return make_expr(Name{id}); }

/// The text of \p advice behind its explanation.
std::string code_of(const std::string& advice) { return advice.substr(advice.find(": ") + 2); }

void expect_program(const std::string& head, const std::string& statements) {
  const std::string text = str("def f(", head, ") -> (Y) { ", statements, " }");
  EXPECT_NO_THROW(check(parse(text))) << text;
}

TEST(OtherLanguages, AdviceOnFunctionsOfOneTensorCanBeFollowed) {
  const std::vector<std::string> heads = {"float(A) X", "float(A,B) X", "float(A,B,C) X"};
  for (const char* function :
       {"sum", "prod", "max", "min", "mean", "argmax", "argmin", "var", "std", "norm", "logsumexp", "softmax",
        "log_softmax", "layer_norm", "rms_norm", "transpose", "cumsum", "zeros_like", "ones_like"}) {
    for (int rank = 1; rank <= 3; ++rank) {
      const std::string advice = instead_of_call(function, {name("X")}, {{{"X", rank}}, "Y"});
      ASSERT_FALSE(advice.empty()) << function;
      expect_program(heads[static_cast<std::size_t>(rank - 1)], code_of(advice));
    }
  }
}

TEST(OtherLanguages, AdviceTakesAnAxisAndTheSubscriptsOfTheText) {
  const Surroundings place{{{"X", 2}, {"total", 1}}, "Y"};
  EXPECT_EQ(code_of(instead_of_call("sum", {name("X"), make_expr(IntLiteral{0})}, place)), "Y(j) +=! X(i,j)");
  EXPECT_EQ(code_of(instead_of_call("mean", {name("X")}, place)), "total_ +=! X(i,j)  Y = total_ / (X.0 * X.1)");
  const ExprPtr element = make_expr(Access{"X", {name("n"), name("c")}});
  EXPECT_EQ(code_of(instead_of_call("max", {element}, {{{"X", 2}}, "Y", {"n"}})), "Y(n) max=! X(n, c)");
  EXPECT_EQ(code_of(instead_of_call("max", {element}, {{{"X", 2}}, "Y", {"n", "m"}})), "r(n) max=! X(n, c)");
}

TEST(OtherLanguages, AdviceOnProductsCanBeFollowed) {
  const std::vector<std::string> sizes = {"K", "M,K", "L,M,K"}, right = {"K", "K,N", "L,K,N"};
  for (int a = 1; a <= 3; ++a)
    for (int b = 1; b <= 3; ++b) {
      const Surroundings place{{{"X", a}, {"W", b}}, "Y"};
      expect_program(str("float(", sizes[static_cast<std::size_t>(a - 1)], ") X, float(",
                         right[static_cast<std::size_t>(b - 1)], ") W"),
                     instead_of_product(name("X"), name("W"), place));
    }
  EXPECT_EQ(instead_of_product(name("X"), name("W"), {{{"X", 3}, {"W", 2}}, "Y"}), "Y(b,i,j) +=! X(b,i,k) * W(k,j)");
  EXPECT_EQ(code_of(instead_of_call("linear", {name("X"), name("W")}, {{{"X", 2}, {"W", 2}}, "Y"})),
            "Y(i,j) +=! X(i,k) * W(j,k)");
}

TEST(OtherLanguages, EquationsOfEinsumAreStatements) {
  EXPECT_EQ(instead_of_einsum("bij,jk->bik", {"X", "W"}, "Y"), "Y(b,i,k) +=! X(b,i,j) * W(j,k)");
  EXPECT_EQ(instead_of_einsum("ij->ji", {"X"}, "Y"), "Y(j,i) = X(i,j)");
  EXPECT_EQ(instead_of_einsum("ij,jk->ik", {"X"}, "Y"), "");
  EXPECT_EQ(instead_of_einsum("ij,jk", {"X", "W"}, "Y"), "");
}

TEST(OtherLanguages, TensorsWithoutSubscriptsGetThem) {
  const ExprPtr sum = make_expr(Binary{BinaryOp::Add, name("X"), name("b")});
  EXPECT_EQ(with_subscripts(sum, {{{"X", 2}, {"b", 1}}, "Y"}), "Y(i,j) = X(i, j) + b(j)");
  EXPECT_EQ(with_subscripts(sum, {{{"X", 2}, {"b", 1}, {"i", 0}}, "Y"}), "Y(j,k) = X(j, k) + b(k)");
}

}  // namespace
}  // namespace tc::lang::other_languages_test
