#include "tc/lang/syntax/parse.h"

#include <gtest/gtest.h>

#include <limits>
#include <numbers>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/lang/syntax/operators.h"
#include "tc/lang/syntax/print.h"
#include "test/support/expect_error.h"

namespace tc::lang {
namespace {

/// The tree with every operator in parentheses.
std::string shape(const ExprPtr& e) {
  std::string out;
  for (const auto& child : children(e)) out += (out.empty() ? "" : " ") + shape(child);
  if (out.empty()) return print(e);
  std::string head = "?:";
  if (const auto* x = std::get_if<Binary>(&e->node)) head = str("b", static_cast<int>(x->op));
  if (const auto* x = std::get_if<Unary>(&e->node)) head = x->op == UnaryOp::Negate ? "neg" : symbol(x->op);
  if (const auto* x = std::get_if<Access>(&e->node)) head = "@" + x->tensor;
  if (const auto* x = std::get_if<Call>(&e->node)) head = x->function;
  if (const auto* x = std::get_if<Cast>(&e->node)) head = str(x->type);
  return "[" + head + " " + out + "]";
}

TEST(Parse, PrecedenceAndAssociativity) {
  const std::pair<const char*, const char*> rows[] = {
      {"a+b*c", "[b0 a [b2 b c]]"},
      {"a-b-c", "[b1 [b1 a b] c]"},
      {"a/b*c%d", "[b4 [b2 [b3 a b] c] d]"},
      {"a||b&&c==d+e*-f", "[b12 a [b11 b [b9 c [b0 d [b2 e [neg f]]]]]]"},
      {"-a*b", "[b2 [neg a] b]"},
      {"!a&&b", "[b11 [! a] b]"},
      {"a?b:c?d:e", "[?: a b [?: c d e]]"},
      {"a?b?c:d:e", "[?: a [?: b c d] e]"},
      {"A(i,j+1)*max(x,y)", "[b2 [@A i [b0 j 1]] [max x y]]"},
      {"half(int(x))", "[float16 [int32 x]]"},
      {"(a<b)==c", "[b9 [b5 a b] c]"},
      {"- -a", "[neg [neg a]]"},
      {"a - -b", "[b1 a [neg b]]"},
      {"a<-b", "[b5 a [neg b]]"},
      {"-a**b", "[neg [b18 a b]]"},
      {"a**-b**c", "[b18 a [neg [b18 b c]]]"},
      {"(-a)**b*c", "[b2 [b18 [neg a] b] c]"},
      {"a**b**c", "[b18 a [b18 b c]]"},
      {"a|b^c&d<<e+f", "[b14 a [b15 b [b13 c [b16 d [b0 e f]]]]]"},
      {"a>>b<<c==d&&~e", "[b11 [b9 [b16 [b17 a b] c] d] [~ e]]"},
      {"a & b == c", "[b9 [b13 a b] c]"},
  };
  for (const auto& [text, expected] : rows) EXPECT_EQ(shape(parse_expr(text)), expected) << text;
}

TEST(Parse, Literals) {
  EXPECT_EQ(std::get<IntLiteral>(parse_expr("18446744073709551615")->node).value, 18446744073709551615u);
  EXPECT_EQ(std::get<FloatLiteral>(parse_expr("3E-5")->node).value, 3e-5);
  EXPECT_EQ(std::get<FloatLiteral>(parse_expr("1e3")->node).value, 1000);
  EXPECT_EQ(std::get<FloatLiteral>(parse_expr("1.")->node).value, 1);
  EXPECT_EQ(std::get<FloatLiteral>(parse_expr(".5")->node).value, 0.5);
  EXPECT_EQ(std::get<FloatLiteral>(parse_expr("1e-400")->node).value, 0);
  EXPECT_TRUE(std::get<BoolLiteral>(parse_expr("true")->node).value);
  for (const char* name : {"info", "nanobatch", "in", "nan", "INFINITY", "minimum", "wherever", "T0", "pint"})
    EXPECT_EQ(std::get<Name>(parse_expr(name)->node).id, name);
  EXPECT_EQ(std::get<FloatLiteral>(parse_expr("inf")->node).value, std::numeric_limits<double>::infinity());
  EXPECT_EQ(std::get<FloatLiteral>(parse_expr("pi")->node).value, std::numbers::pi);
  EXPECT_EQ(print(parse_expr("-inf * pi")), "-inf * pi");
}

TEST(Parse, CommentsAndWords) {
  const auto file = parse(R"(// of C
def 2LUT(float(N) in) -> (B) { B(i) = in(i) / 2e3 // to the end
}
def f(float(N) in) -> (B) { B = 2LUT (in) # of Python
}
def g(float(N) X) -> (B) { B(in) = X(in) where in in 0:N })");
  ASSERT_EQ(file.defs.size(), 3u);
  EXPECT_EQ(file.defs[0].name, "2LUT");
  EXPECT_EQ(std::get<CallStatement>(file.defs[1].statements[0].node).def, "2LUT");
  EXPECT_TRUE(equal(file.defs[2], parse(print(file.defs[2])).defs[0]));
  EXPECT_TRUE(equal(file.defs[1], parse(print(file)).defs[1]));
}

TEST(Parse, SizeOfADimension) {
  const auto expr = parse_expr("T.0+T.12*2.5");
  EXPECT_EQ(print(expr), "T.0 + T.12 * 2.5");
  EXPECT_EQ(std::get<SizeOf>(children(expr)[0]->node).dimension, 0);
  EXPECT_EQ(print(parse_expr("T . 1")), "T.1");
}

TEST(Parse, AssignmentOperators) {
  const char* operators[] = {
      "=", "+=", "*=", "min=", "max=", "&&=", "||=", "+=!", "*=!", "min=!", "max=!", "&&=!", "||=!"};
  for (std::string op : operators) {
    for (const char* blank : {"", " "}) {
      const auto file = parse("def f(float(N) A) -> (B) { B(i)" + std::string(blank) + op + " A(i) }");
      const auto& statement = std::get<Assignment>(file.defs[0].statements[0].node);
      EXPECT_EQ(statement.reduction ? str(*statement.reduction) : "", op.substr(0, op.find('='))) << op;
      EXPECT_EQ(statement.initialise, op.back() == '!') << op;
    }
  }
  const auto file = parse("def f(bool(N) A) -> (B) { B(i) = !A(i) where min = 3 C ||= !A(i) }");
  EXPECT_FALSE(std::get<Assignment>(file.defs[0].statements[1].node).initialise);
}

TEST(Parse, ClausesAndDeclarations) {
  const auto file = parse(R"(# a comment
def f(float(N,M+1,3) A, double s,
      byte(N) I) -> (B, int C, float(N) D) { # another
  B(i) = A(i,0,0) where i in 1:N-1, x = 2*i, exists I(i)
})");
  const auto& def = file.defs.at(0);
  EXPECT_EQ(def.params.size(), 3u);
  EXPECT_EQ(def.params[0].dims->size(), 3u);
  EXPECT_FALSE(def.params[1].dims);
  EXPECT_EQ(def.params[2].type, DType::UInt8);
  EXPECT_FALSE(def.returns[0].type);
  EXPECT_EQ(def.returns[1].type, DType::Int32);
  EXPECT_EQ(std::get<Assignment>(def.statements[0].node).clauses.size(), 3u);
  EXPECT_EQ(file.text.substr(def.name_range.begin, 1), "f");
  EXPECT_EQ(def.range.end, static_cast<int>(file.text.size()));
}

TEST(Parse, CallsAreToldByName) {
  const auto file = parse(R"(
def g(float(N) A) -> (B, C) { B(i) = A(i)  C(i) = A(i) }
def f(float(N) X) -> (Y) { P, Q = g(X); (R, S) = g(X)  T = h(X)  U = g(X)  V = exp(s) W() = g(X) })");
  const auto& statements = file.defs[1].statements;
  ASSERT_EQ(statements.size(), 6u);
  EXPECT_EQ(std::get<CallStatement>(statements[0].node).results, (std::vector<std::string>{"P", "Q"}));
  EXPECT_EQ(std::get<CallStatement>(statements[1].node).arguments, (std::vector<std::string>{"X"}));
  EXPECT_TRUE(std::holds_alternative<Assignment>(statements[2].node));
  EXPECT_TRUE(std::holds_alternative<CallStatement>(statements[3].node));
  EXPECT_TRUE(std::holds_alternative<Call>(std::get<Assignment>(statements[4].node).rhs->node));
  EXPECT_TRUE(std::holds_alternative<Assignment>(statements[5].node));
}

TEST(Parse, StatementsNeedNoSeparator) {
  const auto file = parse("def f(float a)->(b,c,d,e){b=a c=a;d=a;;\n;e=a}");
  EXPECT_EQ(file.defs[0].statements.size(), 4u);
}

TEST(Parse, RangesCoverTheText) {
  const std::string text = "def f(float(N) A) -> (B) { B(i) = A(i) + 2*i where i in 0:N }";
  const auto file = parse(text);
  const auto& statement = file.defs[0].statements[0];
  const auto& assignment = std::get<Assignment>(statement.node);
  const auto cut = [&](SourceRange r) { return text.substr(r.begin, r.end - r.begin); };
  EXPECT_EQ(cut(statement.range), "B(i) = A(i) + 2*i where i in 0:N");
  EXPECT_EQ(cut(assignment.target_range), "B");
  EXPECT_EQ(cut(assignment.rhs->range), "A(i) + 2*i");
  EXPECT_EQ(cut(children(assignment.rhs)[1]->range), "2*i");
  EXPECT_EQ(cut(assignment.clauses[0].range), "i in 0:N");
}

TEST(Parse, ReportsSeveralErrors) {
  try {
    parse("def f(float(N) A) -> (B) {\n  B(i) = A(i) +\n  C(i) = )\n  D(i) = A(i)\n  E(i) A\n}\ndef g( -> (B) {}\n",
          "x.tc");
    FAIL();
  } catch (const SyntaxError& error) {
    std::string places;
    for (const auto& d : error.diagnostics()) places += str(d.code, "@", d.line, ":", d.column, " ");
    EXPECT_EQ(places, "TC002@3:8 TC002@5:8 TC002@7:8 ") << error.what();
    EXPECT_NE(std::string(error.what()).find("--> x.tc:5:8"), std::string::npos);
  }
}

TEST(Parse, DeepTreesAreErrors) {
  const auto repeat = [](const std::string& text, int n) {
    std::string out;
    for (int i = 0; i < n; ++i) out += text;
    return out;
  };
  EXPECT_NO_THROW(parse_expr(repeat("(", 150) + "a" + repeat(")", 150)));
  EXPECT_NO_THROW(parse_expr("a" + repeat("+a", 300)));
  for (const std::string& text : {repeat("(", 100000) + "a", repeat("-", 100000) + "a", "a" + repeat("+a", 100000),
                                  repeat("f(", 100000), repeat("a?", 100000), repeat("a?b:", 100000) + "c"})
    EXPECT_ERROR(parse_expr(text), SyntaxError, "error[TC006]: the expression is nested too deeply")
        << text.substr(0, 10);
}

}  // namespace
}  // namespace tc::lang
