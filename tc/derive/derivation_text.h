#pragma once

#include <string>
#include <vector>

#include "tc/derive/proof/check.h"
#include "tc/derive/rules/rewrite.h"

namespace tc::derive {

/// A derivation as a text that contains its whole proof: the programs, each with its rule and the maps of its
/// certificate.
///
///   program
///   def f(...) -> (O) { ... }
///   step fuse: P
///   map O: { c0[i0, i1] -> ... }
///   program
///   ...
std::string derivation_text(const Program& program, const std::vector<Step>& steps);

/// The first and the last program of a derivation.
struct DerivationOutline {
  std::string first, last;         ///< programs
  std::vector<std::string> rules;  ///< of the steps, in order, each with what it was applied to
};
/// The outline of \p text, which is not checked. Throws Refusal for other texts.
DerivationOutline outline(const std::string& text);

/// The largest number of isl operations of a proof, which takes seconds. Proofs of benchmarks/derivation.py need at
/// most 222'000.
constexpr unsigned long operations_of_a_proof = 2'000'000;

/// Checks a derivation from its first program to its last, using only the text: isl maps and TC. Equality is
/// transitive, so two derivations compose if one ends where the other begins. Rejects unreadable texts, and proofs
/// with more than \p operations isl operations.
Verdict check_derivation(const std::string& text, unsigned long operations = operations_of_a_proof);

}  // namespace tc::derive
