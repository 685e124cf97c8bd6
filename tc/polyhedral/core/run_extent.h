#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tc::polyhedral {

/// A number of blocks that depends on numbers which each run chooses: the largest, over the parts, of the least, over the
/// terms of the part. Without parts the number does not depend on them.
///
///   blocks of 64 rows, at most 2     {{floor((N + 63) / 64), 2}}
struct RunExtent {
  /// floor((constant + sum of factors[i] * numbers[i]) / divisor)
  struct Term {
    std::int64_t constant = 0, divisor = 1;
    std::vector<std::int64_t> factors;  ///< one a number; trailing ones may be missing

    bool operator==(const Term&) const = default;
  };
  std::vector<std::vector<Term>> parts;

  bool is_fixed() const { return parts.empty(); }
  /// For these \p numbers, but from 1 to \p most.
  std::int64_t at(std::span<const std::int64_t> numbers, std::int64_t most) const;
  bool operator==(const RunExtent&) const = default;
};

/// \p extent, which is not fixed, in the notation of C; \p names are those of the numbers.
///
///   (N + 63) / 64
std::string to_text(const RunExtent& extent, const std::vector<std::string>& names);

}  // namespace tc::polyhedral
