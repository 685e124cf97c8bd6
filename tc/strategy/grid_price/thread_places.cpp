#include "tc/strategy/grid_price/thread_places.h"

namespace tc::strategy {

ThreadPlaces::ThreadPlaces(const ThreadSpread& spread, const KernelShape& shape,
                           const std::function<std::int64_t(std::size_t, std::int64_t)>& place,
                           const std::function<bool(int)>& moves)
    : block_(shape.block) {
  for (std::size_t d = 0; d < 3; ++d)
    for (std::int64_t c = 0; c < block_[d]; ++c) {
      bool runs = c == 0 || moves(static_cast<int>(d));
      std::int64_t at = 0;
      for (std::size_t i = 0; i < spread.iterators.size(); ++i) {
        const auto& it = spread.iterators[i];
        if (!it.uses(static_cast<int>(d))) continue;
        const auto first = it.first(static_cast<int>(d), c);
        runs = runs && first < it.tile;
        at += place(i, first);
      }
      runs_[d].push_back(runs);
      places_[d].push_back(at);
    }
}

}  // namespace tc::strategy
