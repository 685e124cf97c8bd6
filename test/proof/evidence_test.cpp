#include <gtest/gtest.h>

#include "tc/engine/describe/proof_of.h"
#include "tc/engine/describe/read_evidence.h"
#include "tc/engine/engine.h"
#include "tc/proof/check.h"
#include "test/proof/evidence_fixture.h"

namespace tc::proof {
namespace {

TEST(Evidence, ExamplesAreProved) {
  for (const auto& example : examples()) {
    const auto verdict =
        check(evidence_of(example.text, example.shapes, example.options, example.target).SerializeAsString());
    EXPECT_EQ(to_string(verdict), "proved") << example.name;
  }
}

TEST(Evidence, LoopsInTheOrderOfTheProgramAreProved) {
  for (const auto& example : examples()) {
    const auto evidence =
        evidence_of(example.text, example.shapes, "parallel=0,vectorise=0,promote=0,fusion=min", "cpu:plain");
    EXPECT_EQ(to_string(check(evidence.SerializeAsString())), "proved") << example.name;
  }
}

/// What the checker does not understand is never proved.
TEST(Evidence, OtherProgramsAreNotDecided) {
  const auto outcome = [](const char* text, const std::vector<std::vector<std::int64_t>>& shapes) {
    const auto verdict = check(evidence_of(text, shapes).SerializeAsString());
    return to_string(verdict.outcome) + " " + verdict.law;
  };
  EXPECT_EQ(outcome("def f(float(N) T, int32(M) I) -> (O) { O(m) = T(I(m)) }", {{10}, {20}}), "not decided text");
  EXPECT_EQ(
      outcome("def f(float(N,K) A, float(O,K) W) -> (Y) { Y(n,o) +=! exp(A(n,k)) * W(o,k) }", {{40, 50}, {60, 50}}),
      "not decided text");
}

TEST(Evidence, BytesThatAreNoneAreRefused) {
  EXPECT_EQ(check("no evidence").outcome, Outcome::Refused);
  EXPECT_EQ(to_string(check("")),
            "not decided: law 'form': the evidence has version 0 of the schema, and this checker knows 1");
}

TEST(Evidence, TheCheckerStopsAtItsLimit) {
  const auto& example = examples()[1];
  const auto verdict = check(evidence_of(example.text, example.shapes).SerializeAsString(), {1000});
  EXPECT_EQ(verdict.outcome, Outcome::NotDecided);
  EXPECT_EQ(verdict.reason, "not proved within 1000 operations of isl");
}

/// The image that a compile makes carries evidence of itself, also when it is read back.
TEST(Evidence, BelongsToItsKernel) {
  const auto& example = examples()[1];
  const auto compiled = [&](std::int64_t rows) {
    const auto function = engine::define(example.text).functions.back();
    return engine::compile(function, {contiguous(DType::Float32, {rows, 40}), contiguous(DType::Float32, {40, 70})})
        ->image();
  };
  auto image = compiled(50);
  EXPECT_EQ(to_string(engine::proof_of(image)), "proved");
  const auto read = engine::Image::deserialise(image.serialise());
  EXPECT_EQ(read.evidence, image.evidence);
  const auto other = compiled(51);
  image.evidence = other.evidence;
  EXPECT_EQ(to_string(engine::proof_of(image)), "refused: law 'binding': the evidence is of other machine code");
  image.functions = other.functions;
  image.source += " ";
  EXPECT_EQ(to_string(engine::proof_of(image)), "refused: law 'binding': the evidence is of another text");
  image.evidence.clear();
  EXPECT_EQ(engine::proof_of(image).outcome, Outcome::NotDecided);
}

TEST(Evidence, IsPrintedForPeople) {
  const auto& example = examples()[0];
  const auto text = engine::print_evidence(evidence_of(example.text, example.shapes).SerializeAsString());
  for (const char* part : {"C(n, m) = A(n, m) + b(m)", "size N = 40", "tensor b: 0:33", "S0 of S0",
                           "instances { S0[n, m]", "mark: \"vector\""})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
}

}  // namespace
}  // namespace tc::proof
