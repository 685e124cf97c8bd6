#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tc/polyhedral/core/isl.h"

namespace tc::polyhedral {

/// The iteration number of several loops, the fastest first, written with one digit for each dimension of a block; what
/// is left counts rounds.
class ThreadDigits {
 public:
  explicit ThreadDigits(const std::array<std::int64_t, 3>& block) : block_(block) {}

  /// The next loop: \p index takes the values 0 ... \p count - 1.
  void add(isl::union_pw_aff index, std::int64_t count);

  struct Round {
    isl::union_pw_aff index;
    std::int64_t count = 1;
  };
  std::array<Nullable<isl::union_pw_aff>, 3> threads;
  std::vector<Round> rounds;  ///< the slowest first

 private:
  void next();

  std::array<std::int64_t, 3> block_;
  int dimension_ = 0;
  std::int64_t filled_ = 1;  ///< values of the digits of this dimension
};

}  // namespace tc::polyhedral
