#pragma once

#include <cstdint>

namespace tc::cpu {

/// What this process has done since it began: nothing is measured that was not loaded.
struct CodeCounts {
  std::int64_t emitted = 0;  ///< objects
  std::int64_t loaded = 0;   ///< kernels

  bool operator==(const CodeCounts&) const = default;
};

/// The counts up to now. Thread-safe.
CodeCounts code_counts();

/// Adds one to a count. Thread-safe.
void count_emitted();
void count_loaded();

}  // namespace tc::cpu
