#include "tc/lang/syntax/scatter.h"

#include <gtest/gtest.h>

#include "tc/lang/check/check.h"
#include "tc/lang/syntax/parse.h"
#include "tc/lang/syntax/print.h"
#include "test/lang/interpret_fixture.h"

namespace tc::test {
namespace {

using lang::Assignment;

lang::File checked(const std::string& text) { return lang::check(lang::parse(text)); }

const Assignment& first(const lang::File& file) { return std::get<Assignment>(file.defs[0].statements[0].node); }

/// The text of \p assignment as the reduction over all elements that check makes of it.
std::string written_out(Assignment assignment) {
  assignment.rhs = lang::make_expr(assignment.rhs->node);
  return lang::print(lang::Statement{assignment, {}});
}

const std::string head = "def f(int32(L) I, uint64(L) J, float(L) X, int8(L) b) -> (";

TEST(Scatter, IsAReductionOverAllElements) {
  const std::pair<const char*, const char*> rows[] = {
      {"O(I(l)) +=! X(l)", "O(p) +=! I(l) == p ? X(l) : 0 where exists O(I(l))"},
      {"O(J(l)) *=! X(l)", "O(p) *=! int64(J(l)) == p ? X(l) : 1 where exists O(J(l))"},
      {"O(I(p)*2) +=! q where q in 0:3", "O(r) +=! int64(I(p)) * 2 == r ? q : 0 where q in 0:3, exists O(I(p) * 2)"},
      {"O(l) max=! X(k) where l = I(k)", "O(p) max=! l == p ? X(k) : -1.0 / 0.0 where l = I(k), exists O(l)"},
      {"O(2*i) min=! X(i)", "O(p) min=! 2 * i == p ? X(i) : 1.0 / 0.0 where exists O(2 * i)"},
  };
  for (const auto& [scatter, reduction] : rows) {
    const auto file = checked(head + "float(9) O) { " + scatter + " }");
    EXPECT_EQ(written_out(first(file)), reduction);
    EXPECT_EQ(lang::print(file.defs[0].statements[0]),
              lang::print(lang::parse(lang::print(file)).defs[0].statements[0]));
    EXPECT_TRUE(lang::as_scatter(first(file)));
  }
}

TEST(Scatter, BeginsWithWhatItsTypeBeginsWith) {
  for (const char* type :
       {"int8", "int16", "int32", "int64", "uint32", "uint64", "half", "bfloat16", "float", "double"})
    for (const char* op : {"min=!", "max=!", "+=!", "*=!"}) {
      const auto text = "def f(int32(L) I) -> (" + std::string(type) + "(3) O, " + type + "(3) P) { O(I(l)) " + op +
                        " " + type + "(2)  P(e) " + op + " " + type + "(2) where e in 0:3, l in 0:0 }";
      const auto results = interpret_text(text, {{"I", i32({1})}});
      EXPECT_EQ(results.at("O").at(0), results.at("P").at(0)) << text;
      EXPECT_EQ(results.at("O").at(1), 2) << text;
    }
}

TEST(Scatter, AddsUpWhereItsIndexSays) {
  const Tensors arguments{{"I", i32({2, 0, 2, 1})}, {"X", f32({1, 2, 4, 8})}};
  EXPECT_EQ(run("def f(int32(L) I, float(L) X) -> (float(4) O) { O(I(l)) +=! X(l) }", arguments), "2 8 5 0");
  EXPECT_EQ(
      run("def f(int32(L) I, float(L) X) -> (O) { O(i) = float(i) where i in 0:4  O(3-I(l)) += X(l) }", arguments),
      "0 6 10 5");
  EXPECT_EQ(run("def f(int32(L) I, float(L) X) -> (O) { O(i) = X(i)  O(I(l)) += O(l) * 2 }", arguments), "5 18 14 8");
}

/// A subscript computes in int64, a condition and what `where` names in the type of its integers.
TEST(Scatter, SubscriptsDoNotWrap) {
  const Tensors arguments{{"I", dense(DType::UInt8, {1}, {250})}};
  const auto place_of = [&](const std::string& statement) {
    const auto result = interpret_text("def f(uint8(L) I) -> (int32(300) O) { " + statement + " }", arguments).at("O");
    std::string places;
    for (int e = 0; e < 300; ++e)
      if (result.at(e) != 0) places += (places.empty() ? "" : " ") + std::to_string(e);
    return places;
  };
  EXPECT_EQ(place_of("O(I(l)+10) +=! 1"), "260");
  EXPECT_EQ(place_of("O(e) +=! int64(I(l))+10 == e ? 1 : 0"), "260");
  EXPECT_EQ(place_of("O(e) +=! I(l)+10 == e ? 1 : 0"), "4");
  EXPECT_EQ(place_of("O(e) +=! k == e ? 1 : 0 where k = I(l)+10"), "4");
  EXPECT_EQ(place_of("O(k) +=! 1 where k = I(l)+10"), "4");
  EXPECT_EQ(place_of("O(k) +=! 1 where k = int64(I(l))+10"), "260");
  EXPECT_EQ(place_of("O(uint8(I(l)+10)) +=! 1"), "4");
}

TEST(Scatter, AnIndexOutsideIsAnError) {
  const std::string text = "def f(int32(L) I, float(L) X, float(M) Y) -> (float(4) O) { O(I(l)) +=! X(l) * Y(m) }";
  for (const double bad : {4.0, -1.0})
    EXPECT_NE(message<ArgumentError>([&] {
                run(text, {{"I", i32({2, bad})}, {"X", f32({1, 2})}, {"Y", f32({1})}});
              }).find("subscript 0 of O, 'I(l)', is "),
              std::string::npos);
  EXPECT_EQ(run(text, {{"I", i32({2, 3})}, {"X", f32({1, 2})}, {"Y", f32({1})}}), "0 0 1 2");
}

TEST(Scatter, WhatIsWrittenOutByHandStaysSo) {
  const std::string texts[] = {"O(p) +=! I(l) == p ? X(l) : 0", "O(p) +=! I(l) == p ? X(l) : 1 where exists O(I(l))",
                               "O(p) +=! I(l) == p ? X(l) * p : 0 where exists O(I(l))",
                               "O(p) +=! I(l) == p ? X(l) : 0 where p in 0:3, exists O(I(l))"};
  for (const auto& text : texts) {
    const auto file = checked(head + "float(9) O) { " + text + " }");
    EXPECT_EQ(lang::print(file.defs[0].statements[0]), text);
  }
}

}  // namespace
}  // namespace tc::test
