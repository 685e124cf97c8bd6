#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "tc/strategy/construct/mapping_state.h"
#include "tc/strategy/construct/printed_formulas.h"

namespace tc::strategy::printed {

/// Tiles of the iterators of a statement, each a power of two or the whole extent.
using Sizes = std::vector<std::int64_t>;

/// The tiles that one of `tile` and `inverse tile` leads to from \p sizes: an iterator twice or half as long, where what a
/// tile keeps fits in \p capacity elements.
std::vector<Sizes> neighbours(const PricedStatement& statement, const Sizes& sizes, double capacity);

/// One step of a chain within a level: a neighbour drawn by formula 1; with \p lazy, every second time none.
Sizes step(const PricedStatement& statement, const Sizes& sizes, double capacity, bool lazy, std::mt19937_64& random);

/// A chain as the paper describes it: tiles for the second cache, then for registers.
struct Chain {
  Sizes cache, registers;
  std::int64_t virtual_threads = 1;
  int cache_steps = 0;           ///< until it went on to registers
  double filled = 0;             ///< the share of the second cache that its tiles keep
  std::vector<Sizes> in_caches;  ///< all tiles it visited there
};

/// Runs a chain for \p space. \p gate: it goes on to the next level only where no larger tile fits, else as soon as
/// formula 2 is drawn.
Chain run_chain(const MappingSpace& space, bool gate, std::mt19937_64& random);

/// The state that \p chain says; tiles that registers have no room for are halved.
MappingState state_of_chain(const MappingSpace& space, const Chain& chain);

}  // namespace tc::strategy::printed
