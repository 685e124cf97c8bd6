#include "tc/derive/rules/roll.h"

#include <gtest/gtest.h>

#include "tc/derive/derivation_text.h"
#include "tc/derive/derive.h"
#include "tc/derive/proof/comparison.h"
#include "tc/derive/proof/induction.h"
#include "test/derive/derive_fixture.h"

/// A maximum and its sums of exponentials in one loop: which texts roll, which are refused and why, and what the certificates prove.
namespace tc::test::roll_test {
namespace {

using derive::Program;
using derive::Step;

const std::string kHead = "float(7,10) S, float(10,3) V";
const std::string kAttention =
    "def f(float(7,4) Q, float(10,4) K, float(10,3) V) -> (O) { S(n,j) +=! Q(n,k) * K(j,k)  T(n,j) = 0.5 * S(n,j)  "
    "m(n) max=! T(n,j)  E(n,j) = exp(T(n,j) - m(n))  l(n) +=! E(n,j)  P(n,j) = E(n,j) / l(n)  "
    "O(n,d) +=! P(n,j) * V(j,d) }";

/// A derivation whose steps are proved, also from the text of all alone.
std::string proof_of(const std::string& text, std::int64_t block = 4) {
  const auto program = program_of(text);
  const auto steps = derive::roll(program, {block});
  EXPECT_EQ(derive::broken_step(program, steps), "") << text;
  EXPECT_EQ(steps.back().rule, "roll");
  auto proof = derive::derivation_text(program, steps);
  const auto verdict = derive::check_derivation(proof);
  EXPECT_TRUE(verdict.equal) << verdict.why << "\n" << proof;
  return proof;
}

std::string rolled(const std::string& text, std::int64_t block = 4) {
  return derive::outline(proof_of(text, block)).last;
}

std::string def(const std::string& body, const std::string& returns = "O", const std::string& head = kHead) {
  return "def f(" + head + ") -> (" + returns + ") { " + body + " }";
}
std::string why_not(const std::string& body, const std::string& returns = "O") {
  return refusal([&] { derive::roll(program_of(def(body, returns)), {4}); });
}

TEST(Roll, AttentionInOneLoop) {
  EXPECT_EQ(rolled(kAttention, 5), R"(def f(float32(7, 4) Q, float32(10, 4) K, float32(10, 3) V) -> (O) {
  for b in 0:2 {
    S_block(n, b, w) +=! Q(n, k) * K(5 * b + w, k) where n in 0:7, w in 0:5, k in 0:4
    T_block(n, b, w) = 0.5 * S_block(n, b, w) where n in 0:7, w in 0:5
    m_part(b, n) max=! T_block(n, b, w) where n in 0:7, w in 0:5
    m_run(b, n) = b - 1 >= 0 ? max(m_part(b, n), m_run(b - 1, n)) : m_part(b, n) where n in 0:7
    m_from(b, n) = max(m_run(b, n), -3.4028234663852886e+38) where n in 0:7
    m_step(b, n) = b - 1 >= 0 ? exp(m_from(b - 1, n) - m_from(b, n)) : 1 where n in 0:7
    m_exp(b, n, w) = exp(T_block(n, b, w) - m_from(b, n)) where n in 0:7, w in 0:5
    l_part(b, n) +=! m_exp(b, n, w) where n in 0:7, w in 0:5
    l_run(b, n) = b - 1 >= 0 ? l_part(b, n) + l_run(b - 1, n) * m_step(b, n) : l_part(b, n) where n in 0:7
    O_part(b, n, d) +=! m_exp(b, n, w) * V(5 * b + w, d) where n in 0:7, d in 0:3, w in 0:5
    O_run(b, n, d) = b - 1 >= 0 ? O_part(b, n, d) + O_run(b - 1, n, d) * m_step(b, n) : O_part(b, n, d) where n in 0:7, d in 0:3
  }
  m(n) = m_run(1, n) where n in 0:7
  m_last(n) = exp(m_from(1, n) - m(n)) where n in 0:7
  l(n) = l_run(1, n) * m_last(n) where n in 0:7
  O(n, d) = O_run(1, n, d) * m_last(n) / l(n) where n in 0:7, d in 0:3
}
)");
}

/// The rule knows no operator: what rolls is what has the form.
TEST(Roll, OtherInstances) {
  const std::string maximum = "m(n) max=! S(n,j)  ";
  for (const auto& text : {
           // log-sum-exp
           def(maximum + "l(n) +=! exp(S(n,j) - m(n))  O(n) = m(n) + log(l(n))"),
           // cross-entropy over a product, with the logit of the target
           def("Z(n,v) +=! X(n,k) * W(v,k)  m(n) max=! Z(n,v)  l(n) +=! exp(Z(n,v) - m(n))  t(n) +=! X(n,k) * Y(n,k)  "
               "O(n) = m(n) + log(l(n)) - t(n)",
               "O", "float(3,4) X, float(9,4) W, float(3,4) Y"),
           // a temperature
           def(maximum + "E(n,j) = exp((S(n,j) - m(n)) / 0.7)  l(n) +=! E(n,j)  O(n,d) +=! E(n,j) / l(n) * V(j,d)"),
           def(maximum + "O(n,d) +=! V(j,d) * exp(3 * S(n,j) - 3 * m(n))"),
           // pooling by attention: scores of a small network, values of each sequence
           def("h(n,j,k) = tanh(X(n,j,k))  s(n,j) +=! h(n,j,k) * w(k)  m(n) max=! s(n,j)  e(n,j) = exp(s(n,j) - m(n))  "
               "l(n) +=! e(n,j)  O(n,k) +=! e(n,j) * X(n,j,k) / l(n)",
               "O", "float(3,11,4) X, float(4) w"),
           // a causal mask, and rows that take 0 off where all is masked
           def("T(n,j) = j <= n ? S(n,j) : -inf  m(n) max=! T(n,j)  r(n) = m(n) == -inf ? 0 : m(n)  "
               "E(n,j) = exp(T(n,j) - r(n))  l(n) +=! E(n,j)  O(n,d) +=! E(n,j) / l(n) * V(j,d)"),
           // several sums, and the maximum itself
           def(maximum + "O(n) +=! exp(S(n,j) - m(n))  U(n) +=! exp(S(n,j) - m(n)) * S(n,j)", "O, U, m"),
           // a minimum, with a negative factor
           def("m(n) min=! S(n,j)  O(n) +=! exp(2 * (m(n) - S(n,j)))"),
           // in float64
           def("m max=! S(j)  O +=! exp(S(j) - m)", "O", "double(10) S"),
       })
    for (const std::int64_t block : {1, 4, 100})
      EXPECT_NE(rolled(text, block).find("for b in 0:"), std::string::npos) << text;
}

/// What looks alike and is not of the form, with the reason.
TEST(Roll, Refusals) {
  const std::string maximum = "m(n) max=! S(n,j)  ";
  EXPECT_EQ(why_not(maximum + "O(n) +=! exp(S(n,j) - m(n)) * m(n)"),
            "'O' reads 'm' otherwise than as one factor exp(c * (s - m))");
  EXPECT_EQ(why_not(maximum + "O(n) +=! S(n,j) - m(n)"), "'O' reads 'm' otherwise than as one factor exp(c * (s - m))");
  EXPECT_EQ(why_not(maximum + "O(n) +=! exp(2 * S(n,j) - m(n))"),
            "the exponent of 'O' is not c * (s - m), where s is what 'm' is the maximum of");
  EXPECT_EQ(why_not(maximum + "O(n) +=! exp(S(n,j) - m(n)) where j in 0:5"), "'O' sums over another range than 'm'");
  EXPECT_EQ(why_not(maximum + "O(j) +=! exp(S(n,j) - m(n))"), "'O' sums over another range than 'm'");
  EXPECT_EQ(refusal([&] {
              derive::roll(program_of(def("m(n) max=! S(n,j)  O(j) +=! exp(S(n,j) - m(n))", "O", "float(9,9) S")), {4});
            }),
            "'O' sums over an index of 'm', not over the iterator of the maximum");
  EXPECT_EQ(why_not(maximum + "O(n) +=! exp(m(n) - S(n,j))"),
            "the exponent of 'O' has no bound, because its factor has the wrong sign");
  EXPECT_EQ(why_not(maximum + "O(n) *=! exp(S(n,j) - m(n))"), "'O' reads 'm' and is no sum");
  EXPECT_EQ(why_not(maximum + "O(n,j) = exp(S(n,j) - m(n))"), "'O' reads 'm' and is no sum");
  EXPECT_EQ(why_not(maximum + "O(n) +=! exp(S(n,j) - m(n))  U(n) +=! exp(2 * (S(n,j) - m(n)))", "O, U"),
            "'U' has another factor in its exponent than 'O'");
  EXPECT_EQ(why_not(maximum + "E(n,j) = exp(S(n,j) - m(n))  l(n) +=! E(n,j)  O(n,j) = E(n,j) / l(n)"),
            "'E' is read by 'O', too, and so needed as a whole");
  EXPECT_EQ(why_not("T(n,j) = 2 * S(n,j)  m(n) max=! T(n,j)  l(n) +=! exp(T(n,j) - m(n))  O(n,j) = T(n,j) - l(n)"),
            "'T' is read by 'O', too, and so needed as a whole");
  EXPECT_EQ(why_not("O(n) +=! exp(S(n,j))"), "there is no maximum over an iterator");
  EXPECT_EQ(why_not(maximum + "O(n) = m(n)"), "'O' reads 'm' and is no sum");
  EXPECT_EQ(refusal([] { derive::roll(program_of(kAttention), {0}); }), "a block has at least one iteration");
}

/// Reads of 16 bits keep their values in sums of 32; what is rounded to 16 bits on the way does not.
TEST(Roll, SumsOfConvertedHalves) {
  const std::string head = "def f(bfloat16(7,4) Q, bfloat16(10,4) K, bfloat16(10,3) V) -> (O) { S(n,j) +=! ";
  const std::string tail = "m(n) max=! S(n,j)  l(n) +=! exp(S(n,j) - m(n))  O(n,d) +=! exp(S(n,j) - m(n)) * ";
  const auto proof = proof_of(head + "float32(Q(n,k)) * float32(K(j,k))  " + tail + "float32(V(j,d)) / l(n) }", 5);
  EXPECT_NE(proof.find("exp(S_block(n, b, w) - m_from(b, n))"), std::string::npos);
  const auto wrong = [&](const std::string& from, const std::string& to) {
    auto changed = proof;
    const auto at = changed.rfind(from);
    EXPECT_NE(at, std::string::npos);
    changed.replace(at, from.size(), to);
    return derive::check_derivation(changed).equal;
  };
  EXPECT_TRUE(wrong("float32(V(5 * b + w, d))", "float32(V(5 * b + w, d))"));
  EXPECT_FALSE(wrong("float32(V(5 * b + w, d))", "float32(bfloat16(float32(V(5 * b + w, d)) / 3))"));
  EXPECT_FALSE(wrong("float32(V(5 * b + w, d))", "float32(V(5 * b + w, d)) * 2"));
  // Exponentials that are rounded stay so, whatever is taken off in their exponents.
  const auto rounding = proof_of(
      head + "float32(Q(n,k)) * float32(K(j,k))  m(n) max=! S(n,j)  E(n,j) = exp(S(n,j) - m(n))  l(n) +=! E(n,j)  " +
          "P(n,j) = bfloat16(E(n,j))  O(n,d) +=! float32(P(n,j)) * float32(V(j,d)) }",
      5);
  const auto rounded = [&](const std::string& to) {
    auto changed = rounding;
    const std::string from = "float32(m_bfloat16(b, n, w))";
    changed.replace(changed.rfind(from), from.size(), to);
    return derive::check_derivation(changed).equal;
  };
  EXPECT_TRUE(rounded("float32(m_bfloat16(b, n, w))"));
  EXPECT_FALSE(rounded("m_exp(b, n, w)")) << "not rounded";
  EXPECT_FALSE(rounded("float32(float16(m_exp(b, n, w)))")) << "to another type";
  EXPECT_FALSE(rounded("float32(bfloat16(float32(m_bfloat16(b, n, w)) * 3))"));
  EXPECT_EQ(refusal([&] {
              derive::roll(program_of(head + "float32(Q(n,k)) * float32(K(j,k))  P(n,j) = bfloat16(S(n,j))  m(n) max=! "
                                             "float32(P(n,j))  O(n) +=! exp(float32(P(n,j)) - m(n)) }"),
                           {5});
            }).empty(),
            false);
}

/// Conditions of masks and numbers of indices stay as they are.
TEST(Roll, MasksAndBiases) {
  const std::string tail = "m(n) max=! T(n,j)  l(n) +=! exp(T(n,j) - m(n))  O(n,d) +=! exp(T(n,j) - m(n)) * V(j,d) }";
  const auto masked = proof_of(
      "def f(float(7,10) S, bool(7,10) M, float(10,3) V) -> (O) { T(n,j) = M(n,j) ? S(n,j) : -inf  " + tail, 5);
  EXPECT_NE(masked.find("M(n, 5 * b + w) ? S(n, 5 * b + w)"), std::string::npos);
  const auto biased =
      proof_of("def f(float(7,10) S, float(10,3) V) -> (O) { T(n,j) = S(n,j) - 0.125 * float32(n - j)  " + tail, 5);
  EXPECT_NE(biased.find("float32("), std::string::npos);
  auto wrong = masked;
  wrong.replace(wrong.rfind("M(n, 5 * b + w) ?"), 15, "M(n, 9 - 5 * b - w)");
  EXPECT_FALSE(derive::check_derivation(wrong).equal);
}

/// Each of \p changes, made at the last place that has it, makes a step of \p proof false.
void expect_refusals(const std::string& proof, const std::vector<std::pair<std::string, std::string>>& changes) {
  for (const auto& [from, to] : changes) {
    auto tampered = proof;
    const auto at = tampered.rfind(from);
    ASSERT_NE(at, std::string::npos) << from << "\n" << proof;
    tampered.replace(at, from.size(), to);
    EXPECT_FALSE(derive::check_derivation(tampered).equal) << from << " -> " << to;
  }
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t result = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++result;
  return result;
}

/// Blocks that a mask hides from a row are no part of its results: these are the running values of the last block that it sees.
TEST(Roll, RowsEndWithTheLastBlockThatTheySee) {
  const auto masked = [](const std::string& condition, const std::string& hidden = "-inf") {
    return "def f(float(12,4) Q, float(12,4) K, float(12,3) V) -> (O) { S(n,j) +=! Q(n,k) * K(j,k)  T(n,j) = " +
           condition + " ? S(n,j) : " + hidden +
           "  m(n) max=! T(n,j)  E(n,j) = exp(T(n,j) - m(n))  l(n) +=! E(n,j)  O(n,d) +=! E(n,j) / l(n) * V(j,d) }";
  };
  const auto proof = proof_of(masked("j <= n"));
  const auto causal = derive::outline(proof).last;
  EXPECT_NE(causal.find("m(n) = m_run(n / 4, n)"), std::string::npos) << causal;
  EXPECT_NE(causal.find("O_run(n / 4, n, d)"), std::string::npos) << causal;
  expect_refusals(proof, {{"m(n) = m_run(n / 4, n)", "m(n) = m_run(n / 5, n)"},
                          {"l_run(n / 4, n) * m_last", "l_run(n / 6, n) * m_last"},
                          {"O_run(n / 4, n, d)", "O_run((n - 1) / 4, n, d)"}});
  const auto window = rolled(masked("j <= n && n - j < 3"));
  EXPECT_NE(window.find("m_run(n / 4, n)"), std::string::npos) << window;
  EXPECT_NE(window.find("4 * b - n >= -1 ? max(m_part"), std::string::npos)
      << "the first block is 2 before the row's: " << window;
  EXPECT_NE(rolled(masked("j <= n", "-1e30")).find("m_run(2, n)"), std::string::npos)
      << "a finite number hides nothing";
  EXPECT_NE(rolled(masked("j < n")).find("m_run(2, n)"), std::string::npos) << "a row without keys is no number";
}

/// Rows of keys begin with the first block of queries that sees them.
TEST(Roll, SumsBeginWithTheFirstBlockThatTheyNeed) {
  const auto last = rolled(
      "def f(float(12,4) Q, float(12,4) K, float(12,3) G, float(12) L) -> (dV, R) { S(n,j) +=! Q(n,k) * K(j,k)  "
      "T(n,j) = j <= n ? S(n,j) : -inf  P(n,j) = exp(T(n,j) - L(n))  dV(j,d) +=! P(n,j) * G(n,d)  R(n) +=! P(n,j) * "
      "L(j) }");
  EXPECT_NE(last.find("4 * b - j >= 1 ? dV_part(b, j, d) + dV_run(b - 1, j, d)"), std::string::npos) << last;
  EXPECT_NE(last.find("dV_run(2, j, d)"), std::string::npos) << last;
  EXPECT_NE(last.find("R_run(n / 4, n)"), std::string::npos) << last;
}

TEST(Roll, BlocksAreOfAboutOneSize) {
  const derive::BlockSize size{64, 16, true};
  EXPECT_EQ(size.of(128), 64);
  EXPECT_EQ(size.of(96), 48) << "two blocks, without padding";
  EXPECT_EQ(size.of(1000), 64);
  EXPECT_EQ(size.of(77), 48) << "96 iterations, not 128";
  EXPECT_EQ(size.of(5), 16);
  EXPECT_EQ(derive::BlockSize{64}.of(1000), 64);
  EXPECT_EQ(derive::BlockSize{64}.of(40), 40) << "all in one block";
}

/// A range that no block divides has a whole last block: of operands with zeros behind their ends, and of a maximum of -inf there.
TEST(Roll, BlocksOfPrimeRangesArePadded) {
  const auto steps_of = [](const std::string& body) {
    const auto program = program_of(
        "def f(bfloat16(8,4) Q, bfloat16(7,4) K, bfloat16(7,3) V) -> (O) { S(n,j) +=! float32(Q(n,k)) * "
        "float32(K(j,k))  T(n,j) = " +
        body +
        "  m(n) max=! T(n,j)  E(n,j) = exp(T(n,j) - m(n))  "
        "l(n) +=! E(n,j)  P(n,j) = bfloat16(E(n,j))  O(n,d) +=! float32(P(n,j)) * float32(V(j,d)) }");
    const auto steps = derive::roll(program, {.most = 4, .padded = true});
    EXPECT_EQ(derive::broken_step(program, steps), "") << body;
    const auto proof = derive::derivation_text(program, steps);
    EXPECT_TRUE(derive::check_derivation(proof).equal) << proof;
    return proof;
  };
  const auto proof = steps_of("0.5 * S(n,j)");
  EXPECT_NE(proof.find("step pad: blocks of 4"), std::string::npos) << proof;
  const auto last = derive::outline(proof).last;
  EXPECT_NE(last.find("S_block(n, b, w) +=! float32(Q(n, k)) * float32(K_padded(4 * b + w, k))"), std::string::npos)
      << last;
  EXPECT_NE(last.find("m_part(b, n) max=! T_block_padded(n, b, w)"), std::string::npos) << last;
  EXPECT_NE(last.find("O_part(b, n, d) +=! float32(m_bfloat16(b, n, w)) * float32(V_padded(4 * b + w, d))"),
            std::string::npos)
      << last;
  expect_refusals(proof, {{"T_block(n, b, w) : -1.0 / 0.0", "T_block(n, b, w) : -1e30"},
                          {"i0 < 7 ? K(i0, i1) : 0", "i0 < 6 ? K(i0, i1) : 0"}});
  EXPECT_NE(derive::outline(steps_of("j <= n ? S(n,j) : -inf")).last.find("m_run(n / 4, n)"), std::string::npos);
}

/// The gradient of attention: rows roll with the maximum, and the sums that need them have loops of their own, with scores of their own.
const std::string kGradient =
    "def f(float(8,4) Q, float(10,4) K, float(10,3) V, float(8,3) G) -> (dQ, dK, dV) { S(n,j) +=! Q(n,k) * K(j,k)  "
    "m(n) max=! S(n,j)  E(n,j) = exp(S(n,j) - m(n))  l(n) +=! E(n,j)  P(n,j) = E(n,j) / l(n)  "
    "A(n,j) +=! G(n,d) * V(j,d)  s(n) +=! A(n,j) * P(n,j)  B(n,j) = P(n,j) * (A(n,j) - s(n))  "
    "dQ(n,k) +=! B(n,j) * K(j,k)  dK(j,k) +=! B(n,j) * Q(n,k)  dV(j,d) +=! P(n,j) * G(n,d) }";

TEST(Roll, SumsBehindTheMaximumHaveLoopsOfTheirOwn) {
  const auto proof = proof_of(kGradient, 5);
  EXPECT_NE(proof.find("step recompute: A, B, E, P, S"), std::string::npos) << proof;
  const auto last = derive::outline(proof).last;
  EXPECT_EQ(count(last, "for b"), 3) << last;
  EXPECT_EQ(count(last, "exp(S"), 3) << "each loop has its own exponentials: " << last;
  EXPECT_EQ(last.find("S(n, j)"), std::string::npos) << "no scores of all rows and columns: " << last;
  EXPECT_NE(last.find("for b2 in 0:2 "), std::string::npos) << "8 rows are 2 blocks of 5: " << last;
}

TEST(Roll, SumsWithoutAMaximum) {
  const auto last = rolled(
      "def f(float(8,4) Q, float(10,4) K, float(10,3) V, float(8) L) -> (O, R) { S(n,j) +=! Q(n,k) * K(j,k)  "
      "P(n,j) = bfloat16(exp(S(n,j) - L(n)))  O(n,d) +=! float32(P(n,j)) * V(j,d)  R(j) +=! float32(P(n,j)) * L(n) }");
  EXPECT_EQ(count(last, "for b"), 2) << last;
  EXPECT_EQ(count(last, "bfloat16(exp(S"), 2) << last;
}

TEST(Roll, DuplicatesHaveOneDefinition) {
  const auto proof = proof_of(kGradient, 5);
  const auto recomputed = proof.substr(0, proof.find("step fuse"));
  ASSERT_TRUE(derive::check_derivation(recomputed).equal) << "the first step alone";
  expect_refusals(recomputed, {{"S1(n, j) +=! Q(n, k) * K(j, k)", "S1(n, j) +=! Q(n, k) * K(j, 3 - k)"},
                               {"E1(n, j) = exp(S1(n, j) - m(n))", "E1(n, j) = exp(A(n, j) - m(n))"},
                               {"map S1 = S", "map S1 = A"},
                               {"map E1 = E", "map E1 = nothing"}});
}

/// Each change of the text makes a step false, and the checker, which reads the text alone, says so.
TEST(Roll, TamperedCertificatesAreRefused) {
  const auto proof = proof_of(kAttention);
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"exp(m_from(b - 1, n) - m_from(b, n))", "exp(m_from(b, n) - m_from(b - 1, n))"},
      {"l_run(b - 1, n) * m_step(b, n)", "l_run(b - 1, n)"},
      {"l_part(b, n) + l_run(b - 1, n) * m_step(b, n)", "l_run(b - 1, n) * m_step(b, n)"},
      {"O_run(b - 1, n, d) * m_step(b, n)", "O_run(b - 1, n, d) * m_step(b - 1, n)"},
      {"max(m_part(b, n), m_run(b - 1, n))", "m_part(b, n)"},
      {"max(m_part(b, n), m_run(b - 1, n))", "min(m_part(b, n), m_run(b - 1, n))"},
      {"exp(m_from(2, n) - m(n))", "exp(m(n) - m_from(2, n))"},
      {"m(n) = m_run(2, n)", "m(n) = m_run(1, n)"},
      {"l_run(2, n) * m_last(n)", "l_run(1, n) * m_last(n)"},
      {"exp(T_block(n, b, w) - m_from(b, n))", "exp(T_block(n, b, w) - m_run(b, n))"},
      {"O_part(b, n, d) +=! 4 * b + w < 10 ? m_exp(b, n, w)", "O_part(b, n, d) +=! 4 * b + w < 9 ? m_exp(b, n, w)"},
      {"K(4 * b + w, k)", "K(4 * b + w - 1, k)"},
  };
  expect_refusals(proof, changes);
}

/// A loop whose scopes read what is not there yet is no program.
TEST(Roll, LoopsReadEarlierElementsOnly) {
  const auto loop = [](const std::string& body) {
    return refusal([&] {
      const auto verdict =
          derive::check(program_of("def f(float(9) X) -> (float(9) O) { for b in 0:9 { " + body + " } }"));
      if (!verdict.equal) throw derive::Refusal{verdict.why};
    });
  };
  EXPECT_EQ(loop("O(b) = b >= 1 ? O(b - 1) + X(b) : X(b)"), "");
  EXPECT_EQ(loop("T(b) = 2 * X(b)  O(b) = T(b) + (b >= 2 ? O(b - 2) : 0)"), "");
}

TEST(Roll, SumsOfExponentsAreCompared) {
  const auto terms = derive::linear_terms(
      lang::make_expr(lang::Binary{lang::BinaryOp::Div,
                                   lang::make_expr(lang::Binary{lang::BinaryOp::Sub, lang::make_expr(lang::Name{"#0"}),
                                                                lang::make_expr(lang::Name{"#1"})}),
                                   lang::make_expr(lang::FloatLiteral{4, ""})}));
  ASSERT_EQ(terms.size(), 2u);
  EXPECT_EQ(terms[0].coefficient, 0.25);
  EXPECT_EQ(terms[1].coefficient, -0.25);
}

/// The law of induction needs the same definition of both: a program that begins with other values is another one.
TEST(Roll, InductionIsOverOneDefinition) {
  const std::string head = "def f(float(9) X) -> (float(9) O) { ";
  const auto closed = program_of(head + "O(b) +=! j <= b ? X(j) : 0 where b in 0:9 }");
  const auto running = program_of(head + "for b in 0:9 { O(b) = b >= 1 ? O(b - 1) + X(b) : X(b) } }", closed.context);
  EXPECT_TRUE(derive::needs_induction(closed, running, "O"));
  EXPECT_FALSE(derive::needs_induction(running, closed, "O"));
  const auto proves = [&](const std::string& map, const Program& after) {
    return derive::check(closed, after, derive::parse_certificate(map, closed.context)).equal;
  };
  const std::string map =
      "O: { t0[b, j] -> t0[b, b - 1, j] : j < b and b >= 1; t0[b, j] -> t1[b] : j = b and b >= 1; t0[b, j] -> t2[b] : "
      "j = b and b = 0 }";
  EXPECT_TRUE(proves(map, running))
      << derive::check(closed, running, derive::parse_certificate(map, closed.context)).why;
  const auto twice = program_of(head + "for b in 0:9 { O(b) = b >= 1 ? 2 * O(b - 1) + X(b) : X(b) } }", closed.context);
  const auto late = program_of(head + "for b in 0:9 { O(b) = b >= 2 ? O(b - 2) + X(b) : X(b) } }", closed.context);
  EXPECT_FALSE(proves(map, twice));
  EXPECT_FALSE(proves(map, late));
}

}  // namespace
}  // namespace tc::test::roll_test
