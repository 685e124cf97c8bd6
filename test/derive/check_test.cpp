#include <gtest/gtest.h>

#include "tc/base/str.h"
#include "tc/derive/derivation_text.h"
#include "tc/derive/proof/check.h"
#include "test/derive/derive_fixture.h"

namespace tc::test {
namespace {

derive::Verdict verdict_of(const std::string& before, const std::string& after, const std::string& maps) {
  const auto context = std::make_shared<polyhedral::Context>();
  const auto first = program_of(before, context), second = program_of(after, context);
  return derive::check(first, second, derive::parse_certificate(maps, context));
}

const char* const product = "def f(float(3,4,5) A) -> (O) { O(x) +=! A(x,r,c) }";
const char* const in_parts = "def f(float(3,4,5) A) -> (O) { T(r,x) +=! A(x,r,c)  O(x) +=! T(r,x) }";

TEST(Check, ASplitSumIsProved) {
  const auto verdict = verdict_of(product, in_parts, "O: { c0[x, r, c] -> c0[x, r, r, x, c] }");
  EXPECT_TRUE(verdict.equal) << verdict.why;
}

TEST(Check, AWrongMapIsRefused) {
  for (const char* map : {"O: { c0[x, r, c] -> c0[x, r, r, x, 4 - c] }", "O: { c0[x, r, c] -> c0[x, r, r, x, 0] }",
                          "O: { c0[x, r, c] -> c0[x, r, r, x, c + 1] }", ""}) {
    EXPECT_FALSE(verdict_of(product, in_parts, map).equal) << map;
  }
}

TEST(Check, FactorsMayStandInAnyOrder) {
  const auto verdict = verdict_of("def f(float(3,4) A, float(4) B) -> (O) { O(x) +=! A(x,r) * (B(r) * 2) }",
                                  "def f(float(3,4) A, float(4) B) -> (O) { O(x) +=! (2 * B(k)) * A(x,k) }", "");
  EXPECT_TRUE(verdict.equal) << verdict.why;
}

TEST(Check, SumsAreMultipliedOutWhereTheMapSpeaksOfTerms) {
  const std::string head = "def f(float(3,4) A, float(4) B, float(4) C) -> (O) { ";
  const auto sum = head + "O(x) +=! A(x,r) * B(r) - A(x,r) * C(r) }";
  const auto factored = head + "T(r) = B(r) - C(r)  O(x) +=! A(x,r) * T(r) }";
  const std::string terms = "O: { t0[x, r] -> t0[x, r, r]; t1[x, r] -> t1[x, r, r] }";
  const auto verdict = verdict_of(sum, factored, terms);
  EXPECT_TRUE(verdict.equal) << verdict.why;
  for (const char* map :
       {"", "O: { c0[x, r] -> c0[x, r, r] }", "O: { t0[x, r] -> t1[x, r, r]; t1[x, r] -> t0[x, r, r] }",
        "O: { t0[x, r] -> t0[x, r, r] }", "O: { t0[x, r] -> t0[x, r, r]; t1[x, r] -> t0[x, r, r] }"})
    EXPECT_FALSE(verdict_of(sum, factored, map).equal) << map;
  for (const char* wrong :
       {"T(r) = B(r) + C(r)  O(x) +=! A(x,r) * T(r) }", "T(r) = B(r)  O(x) +=! A(x,r) * T(r) }",
        "T(r) = B(r) - C(r)  O(x) +=! A(x,r) + T(r) }", "T(r) = B(r) - C(r) * C(r)  O(x) +=! A(x,r) * T(r) }"})
    EXPECT_FALSE(verdict_of(sum, head + wrong, terms).equal) << wrong;
}

TEST(Check, ASumStandsInATermOfItsOwnOperatorOnly) {
  const std::string head = "def f(float(3,4) A, float(3,4) B) -> (O) { P(x) +=! A(x,r)  Q(x) +=! B(x,r)  ";
  const std::string merged = "def f(float(3,4) A, float(3,4) B) -> (O) { O(x) +=! A(x,r) + B(x,r) }";
  const std::string map = "O: { t0[x, y, r] -> t0[x, r]; t1[x, y, r] -> t1[x, r] }";
  EXPECT_TRUE(verdict_of(head + "O(x) = P(x) + Q(x) }", merged, map).equal);
  for (const char* other : {"O(x) = fmax(P(x), Q(x)) }", "O(x) = P(x) + Q(x) + 1 }", "O(x) = P(x) * Q(x) }",
                            "O(x) = P(x) - Q(x) }", "O(x) = exp(P(x) + Q(x)) }", "O(x) = P(x) + P(x) }"})
    EXPECT_FALSE(verdict_of(head + other, merged, map).equal) << other;
}

TEST(Check, OtherProgramsAreRefused) {
  const std::string sum = "def f(float(6) A, float(6) B) -> (O) { O(x) +=! A(x) * B(r) }";
  for (const char* other : {"def f(float(6) A, float(6) B) -> (O) { O(x) +=! A(x) * B(r) where r in 0:5 }",
                            "def f(float(6) A, float(6) B) -> (O) { O(x) +=! A(x) * A(r) where r in 0:6 }",
                            "def f(float(6) A, float(6) B) -> (O) { O(x) +=! A(x) * B(x) where r in 0:6 }",
                            "def f(float(6) A, float(6) B) -> (O) { O(x) max=! A(x) * B(r) }",
                            "def f(float(6) A, float(6) B) -> (O) { O(x) +=! A(x) + B(r) }",
                            "def f(float(6) A, float(6) B) -> (O) { O(x) +=! A(x) * B(r) * B(r) }",
                            "def f(float(7) A, float(6) B) -> (O) { O(x) +=! A(x) * B(r) where x in 0:6 }"})
    EXPECT_FALSE(verdict_of(sum, other, "").equal) << other;
}

TEST(Check, ANonlinearReadOfASumIsNotWrittenOut) {
  EXPECT_FALSE(verdict_of("def f(float(3,4) A) -> (O) { O(x) +=! exp(A(x,r)) }",
                          "def f(float(3,4) A) -> (O) { T(x) +=! A(x,r)  O(x) = exp(T(x)) }",
                          "O: { c0[x, r] -> c0[x, x, r] }")
                   .equal);
}

TEST(Check, CertificatesPrintAndParse) {
  const auto context = std::make_shared<polyhedral::Context>();
  const auto certificate = derive::parse_certificate(
      "O: { c0[x, r] -> c0[x, x, r] }\nP: { c0[a] -> c1[a] : a > 3; c0[a] -> c0[a] : a <= 3 }\n", context);
  const auto text = derive::to_string(certificate);
  EXPECT_EQ(derive::to_string(derive::parse_certificate(text, context)), text);
  EXPECT_EQ(refusal([&] { derive::parse_certificate("nonsense", context); }), "no line of a certificate: nonsense");
  EXPECT_EQ(refusal([&] { derive::parse_certificate("O: { c0[x -> }", context); }),
            "no map: O: { c0[x -> }: syntax error");
}

const std::string text_of_split =
    str("program\n", "def f(float(3,4,5) A) -> (O) { O(x) +=! A(x,r,c) where x in 0:3, r in 0:4, c in 0:5 }\n",
        "step split summation: O over c\n", "map O: { c0[x, r, c] -> c0[x, r, r, x, c] }\n", "program\n",
        "def f(float(3,4,5) A) -> (O) { T(r,x) +=! A(x,r,c) where r in 0:4, x in 0:3, c in 0:5\n",
        "  O(x) +=! T(r,x) where x in 0:3, r in 0:4 }\n");

/// Why text_of_split with \p wrong in the place of \p right proves nothing.
std::string refused(const std::string& right, const std::string& wrong) {
  auto text = text_of_split;
  const auto at = text.find(right);
  EXPECT_NE(at, std::string::npos);
  const auto verdict = derive::check_derivation(text.replace(at, right.size(), wrong));
  EXPECT_FALSE(verdict.equal) << text;
  return verdict.why;
}

TEST(Check, ADerivationIsProvedFromItsText) {
  const auto verdict = derive::check_derivation(text_of_split);
  EXPECT_TRUE(verdict.equal) << verdict.why;
  EXPECT_EQ(refused("x, c] }", "x, c }"), "no map: O: { c0[x, r, c] -> c0[x, r, r, x, c }: syntax error");
  EXPECT_EQ(refused("program", "programme"), "a derivation begins with a program");
  EXPECT_EQ(refused("T(r,x) where", "T(r+1,x) where"), "'T' is read where a value decides");
  EXPECT_NE(refused("c in 0:5\n  ", "c in 1:5\n  "), "");
}

TEST(Check, AProofThatTakesTooLongIsNone) {
  EXPECT_EQ(derive::check_derivation(text_of_split, 20).why, "the proof takes more than 20 operations of isl");
}

}  // namespace
}  // namespace tc::test
