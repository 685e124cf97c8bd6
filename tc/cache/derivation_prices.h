#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tc/cache/cache.h"

namespace tc::cache {

/// What a derived program was measured for: prices of other ones, or taken elsewhere, say nothing.
struct DerivationKey {
  std::string program;              ///< in the expression form: derive::to_text()
  std::set<std::string> constants;  ///< parameters whose tensors never change
  std::string target, libraries;    ///< as a compile is asked for
  Circumstances where;

  bool operator==(const DerivationKey&) const = default;
};

/// A program, and seconds of a run.
struct MeasuredProgram {
  std::string text;
  double seconds = 0;
};

/// Programs that equal one, measured in turns with it on the machine of the key.
struct MeasuredDerivation {
  DerivationKey key;
  double seconds = 0;  ///< of the program of the key, as it is written
  std::vector<MeasuredProgram> others;
  /// derive::derivation_text of the one to take; "" where none is faster than the program beyond noise.
  std::string certificate;
};

/// \p measured as a text that parses back.
std::string to_string(const MeasuredDerivation& measured);
/// The inverse. Nothing where \p text is none of this version.
std::optional<MeasuredDerivation> parse_measured_derivation(const std::string& text);

/// What \p cache holds for \p key: what it says is to be proved again, as anything in a cache may be damaged. Nothing where
/// it has nothing.
std::optional<MeasuredDerivation> find_derivation(const Cache& cache, const DerivationKey& key);
/// Puts \p measured in the place of what \p cache held for its key; false, and a warning, where that fails.
bool keep_derivation(Cache& cache, const MeasuredDerivation& measured);

}  // namespace tc::cache
