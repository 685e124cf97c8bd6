#include "tc/graph/statement/rewrite_statement.h"

#include <gtest/gtest.h>

#include "tc/base/str.h"
#include "tc/engine/define/function.h"
#include "tc/lang/syntax/print.h"

namespace tc::graph {
namespace {

/// The statement of a def with the inputs A and B.
lang::Statement statement(const std::string& text) {
  return engine::define(str("def f(float(N,M) A, float(N) B) -> (Y) { ", text, " }"))
      .functions.back()
      ->def.statements[0];
}
lang::Assignment assignment(const std::string& text) { return std::get<lang::Assignment>(statement(text).node); }

TEST(RewriteStatement, ReadsAreThoseOfValuesAndOfClauses) {
  auto of_value = statement("Y(i) = A(i, 0) + B(i)"), of_clause = statement("Y(i) = 1 where exists B(i)");
  EXPECT_TRUE(reads(of_value, "A") && reads(of_value, "B"));
  EXPECT_FALSE(reads(of_value, "Y"));
  EXPECT_TRUE(reads(of_clause, "B"));
  EXPECT_FALSE(reads(of_clause, "A"));
}

TEST(RewriteStatement, AnIteratorIsBoundedByWhatMentionsIt) {
  EXPECT_TRUE(bounds(assignment("Y(i) = B(i)"), "i"));
  EXPECT_TRUE(bounds(assignment("Y(i) = 1 where i in 0:3"), "i"));
  EXPECT_TRUE(bounds(assignment("Y(i) = 1 where exists B(i)"), "i"));
  EXPECT_FALSE(bounds(assignment("Y(i, j) = B(i) where j in 0:3"), "k"));
}

TEST(RewriteStatement, ReadsMoveToWhereTensorsBegin) {
  auto value = assignment("Y(i) = A(i, 1) * B(i)").rhs;
  EXPECT_EQ(lang::print(with_moved_reads(value, {{"A", {-2, 3}}})), "A(i - 2, 1 + 3) * B(i)");
  EXPECT_EQ(lang::print(with_moved_reads(value, {{"B", {0}}})), "A(i, 1) * B(i)");
}

TEST(RewriteStatement, NumbersAreLiterals) {
  EXPECT_EQ(lang::print(literal(-4)), "-4");
  EXPECT_EQ(lang::print(size_value(7)), "int64(7)");
  auto bound = lang::make_expr(lang::Binary{lang::BinaryOp::Sub, size_value(7), literal(1)});
  EXPECT_EQ(lang::print(plain_sizes(bound)), "7 - 1");
}

}  // namespace
}  // namespace tc::graph
