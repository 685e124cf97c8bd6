#pragma once

#include <string>
#include <vector>

#include "tc/derive/proof/check.h"
#include "tc/derive/rules/rewrite.h"

namespace tc::derive {

/// A derivation as one text that is all of its proof: the programs, each with the rule that made it and the maps of its
/// certificate.
///
///   program
///   def f(...) -> (O) { ... }
///   step fuse: P
///   map O: { c0[i0, i1] -> ... }
///   program
///   ...
std::string derivation_text(const Program& program, const std::vector<Step>& steps);

/// What such a text leads from and to.
struct DerivationOutline {
  std::string first, last;         ///< programs
  std::vector<std::string> rules;  ///< of the steps, in order, each with what it was applied to
};
/// That of \p text, which is not checked. Throws Refusal for what is no such text.
DerivationOutline outline(const std::string& text);

/// What a proof may take of isl, whoever wrote it: seconds. Those of benchmarks/derivation.py take 222'000 at most.
constexpr unsigned long operations_of_a_proof = 2'000'000;

/// Checks such a text from its first program to its last, with nothing but the text: isl maps and TC. Certificates so
/// compose: what is equal to what is equal is equal. Refuses what it cannot read, and what takes isl more than \p operations.
Verdict check_derivation(const std::string& text, unsigned long operations = operations_of_a_proof);

}  // namespace tc::derive
