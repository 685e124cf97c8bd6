#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tc/cache/entry.h"

namespace tc::cache {

class Cache;

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
  std::int64_t taken_at = 0;  ///< seconds since 1970
};

/// \p measured as a text that parses back.
std::string to_string(const MeasuredDerivation& measured);
/// The inverse. Nothing where \p text is none of this version, or holds what is no plain text (tc/base/plain_text.h).
std::optional<MeasuredDerivation> parse_measured_derivation(const std::string& text);

/// The bytes of a file.
std::string to_bytes(const MeasuredDerivation& measured);
/// The inverse.
Fault parse(std::string_view bytes, MeasuredDerivation& measured);
/// The name of the file for \p key.
std::string derivation_name(const DerivationKey& key);
/// Is \p a, of the key of \p b, to be kept rather than it? The later one; ties by their bytes, so that folders may be merged in any
/// order.
bool better(const MeasuredDerivation& a, const MeasuredDerivation& b);

/// What \p cache holds for \p key in the first of its folders that has anything (override, own, shared ones in order): what it
/// says is to be proved again, as anything in a cache may be damaged. Nothing where it has nothing.
std::optional<MeasuredDerivation> find_derivation(const Cache& cache, const DerivationKey& key);
/// Puts \p measured, as taken now, in the place of what \p cache held for its key; false, and a warning, where that fails.
bool keep_derivation(Cache& cache, MeasuredDerivation measured);

}  // namespace tc::cache
