#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "tc/strategy/grid_price/thread_spread.h"

namespace tc::strategy {

/// Which threads of a block take part in an access, and where its first round finds their elements: the sum of a part for each
/// coordinate of the thread.
class ThreadPlaces {
 public:
  /// Value v of iterator i is `place(i, v)` elements from value 0; where the access does not move along a dimension of the block as
  /// `moves` says, only its first threads take part.
  ThreadPlaces(const ThreadSpread& spread, const KernelShape& shape,
               const std::function<std::int64_t(std::size_t, std::int64_t)>& place,
               const std::function<bool(int)>& moves);

  bool runs(std::int64_t thread) const {
    auto at = coordinates(thread);
    return runs_[0][at[0]] && runs_[1][at[1]] && runs_[2][at[2]];
  }
  std::int64_t operator()(std::int64_t thread) const {
    auto at = coordinates(thread);
    return places_[0][at[0]] + places_[1][at[1]] + places_[2][at[2]];
  }

 private:
  std::array<std::size_t, 3> coordinates(std::int64_t thread) const {
    return {static_cast<std::size_t>(thread % block_[0]), static_cast<std::size_t>(thread / block_[0] % block_[1]),
            static_cast<std::size_t>(thread / (block_[0] * block_[1]))};
  }

  std::array<std::int64_t, 3> block_;
  std::array<std::vector<std::int64_t>, 3> places_;
  std::array<std::vector<bool>, 3> runs_;
};

}  // namespace tc::strategy
