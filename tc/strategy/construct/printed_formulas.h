#pragma once

#include <cstdint>
#include <vector>

#include "tc/strategy/price/priced_cluster.h"

/// The formulas of "Gensor: A Graph-based Construction Tensor Compilation Method for Deep Learning" as the paper prints
/// them, without what makes them work (docs/construction.md lists where the searches of construct.h differ, and why).
namespace tc::strategy::printed {

/// What a tile of a statement moves in all and keeps while it is used, in elements (Q and F).
struct TileTraffic {
  double moved = 0, kept = 0;
};

/// For tiles of \p statement with so many values of each iterator as \p sizes says: each tile over iterators that the
/// result depends on moves all that it reads along whole reductions and the result once, and keeps what it reads of one
/// step of the reduction.
///
///   product of 1024 cubed, tiles of 64x64x8:   moved 34603008, kept 1024
TileTraffic tile_traffic(const PricedStatement& statement, const std::vector<std::int64_t>& sizes);

/// Formula 1, of tile and inverse tile: (Q / Q') / (F / F').
double tiling_benefit(const TileTraffic& before, const TileTraffic& after);

/// A level of memory: the time until its first byte comes, and bytes it gives in a unit of that time.
struct Level {
  double latency = 0, bandwidth = 1;
};

/// Formula 2, of going on to the next level: (L_slow + S / B_slow) / (L_fast + S / B_fast) for \p bytes.
double caching_benefit(const Level& slow, const Level& fast, double bytes);

/// Formula 3: ceil(x / W) / ceil(x / (V W)) for tiles of \p width elements, banks of \p bank and \p threads virtual ones.
double virtual_thread_benefit(std::int64_t width, std::int64_t bank, std::int64_t threads);

/// What formula 2 is multiplied by in \p step of a chain: 0.5, 1.5 and 2.5 for 0, 10 and 20, 3 at last.
double caching_multiplier(double step);

/// The probability with which a state is recorded at \p temperature, which begins at 1 and is halved by each step.
double recording_probability(double temperature);

}  // namespace tc::strategy::printed
