#pragma once

#include <cstdint>
#include <vector>

#include "tc/polyhedral/core/isl.h"
#include "tc/polyhedral/map_grid/grid_mapping.h"

/// Loops of a kernel on their way to blocks and threads.
namespace tc::polyhedral {

/// A loop, its values counted from 0, and how it is spread over threads.
struct GridLoop {
  isl::union_pw_aff index;
  std::int64_t extent = 1;
  bool coincident = false;
  ThreadLoop threads;
  Nullable<isl::union_pw_aff> whole = {};  ///< of which `index` is the remainder by `tile`
  std::int64_t tile = 0;
};
using GridLoops = std::vector<GridLoop>;

/// The loop over the \p extent points of a tile of \p index, which has several if \p tiled.
GridLoop point_loop(const isl::union_pw_aff& index, std::int64_t tile, bool tiled, std::int64_t extent,
                    const ThreadLoop& threads);

/// Is one of \p loops spread over dimension \p dimension of a block?
bool uses(const GridLoops& loops, int dimension);

/// The coordinate of the thread that runs an iteration of a loop, and how many threads do.
struct ThreadCoordinate {
  isl::union_pw_aff value;
  std::int64_t threads = 1;
};
/// That of \p loop along its dimension of a block, which has \p threads threads.
ThreadCoordinate coordinate_of(const GridLoop& loop, std::int64_t threads);

/// The loops of one thread: bands, outermost first, and the runs innermost.
struct ThreadBands {
  std::vector<GridLoops> bands = {};
  GridLoops runs = {};
};
/// What one thread has of \p loop, appended to \p band and \p runs. \p threads: of its dimension, to have the rounds in
/// a loop of their own; 0: not.
///
///   before  m of 1024, run 4 of 64 threads       after  band [..., m/4], runs [..., m%4]
///   threads 64                                   after  band [..., m/256, m/4%64], runs [..., m%4]
void take_apart(const GridLoop& loop, std::int64_t threads, GridLoops& band, GridLoops& runs);

/// The space of \p instances, unbounded.
isl::union_set everywhere(const isl::union_set& instances);
/// 0 wherever the statements of \p domain have instances.
isl::union_pw_aff zero_on(const isl::union_set& domain);

}  // namespace tc::polyhedral
