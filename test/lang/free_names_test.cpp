#include "tc/lang/check/free_names.h"

#include <gtest/gtest.h>

#include "tc/lang/check/inlined_statements.h"
#include "tc/lang/syntax/print.h"

namespace tc::lang {
namespace {

std::string text(const Assignment& assignment) {
  Statement statement;
  statement.node = assignment;
  return print(statement);
}

TEST(FreeNames, NumbersTakeThePlaceOfNumbers) {
  FreeNames names({"A", "A_1", "i", "N"}, {"A", "A_1", "N"});
  EXPECT_EQ(names.tensor("A"), "A_2");
  EXPECT_EQ(names.tensor("A_1"), "A_3");
  EXPECT_EQ(names.property("A_size_0"), "A_size_0_1");
  EXPECT_EQ(names.iterator("i"), "i") << "iterators of several statements may be equal";
  EXPECT_EQ(names.iterator("N"), "N_1");
  names.take({"A_4"});
  EXPECT_EQ(names.tensor("A"), "A_5");
}

TEST(FreeNames, ThoseOfDefsAreTaken) {
  File file;
  for (const char* name : {"i", "T_1", "i"}) {
    Def def;
    def.name = name;
    file.add(def);
  }
  EXPECT_EQ(file.find("i"), &file.defs[0]) << "of two of one name the first is found";
  EXPECT_EQ(file.find("j"), nullptr);
  FreeNames names({}, {}, &file);
  EXPECT_EQ(names.iterator("i"), "i_1");
  EXPECT_EQ(names.iterator("j"), "j");
  EXPECT_EQ(names.tensor("T"), "T_2");
}

TEST(InlinedStatements, CopiesMoveFromWhereTheirSourceBegins) {
  FreeNames names({"j"}, {"j"});
  auto two = make_expr(IntLiteral{2});
  EXPECT_EQ(text(copy_statement({"T"}, {"S"}, 2, {}, {}, names)), "T(i, j_1) = S(i, j_1)");
  EXPECT_EQ(text(copy_statement({"T"}, {"S", {two}}, 1, {}, {}, names)), "T(i) = S(i + 2) where i in 0:S.0");
  EXPECT_EQ(text(copy_statement({"T", {two}}, {"S"}, 1, {}, {}, names)), "T(i) = S(i - 2) where i in 2:2 + S.0");
  EXPECT_EQ(text(copy_statement({"T"}, {"S"}, 0, DType::Float64, {}, names)), "T = float64(S)");
}

TEST(InlinedStatements, AnEquationIsATensorOfNoNegativeExtent) {
  FreeNames names({}, {});
  auto n = make_expr(Name{"N"}), m = make_expr(Name{"M"});
  EXPECT_EQ(text(equation_statement({"X", 1, n, m}, {}, names)),
            "X_size_1_1(i, j) = false where i in 0:M - N, j in 0:N - M");
}

}  // namespace
}  // namespace tc::lang
