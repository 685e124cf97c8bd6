#pragma once

#include <array>
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

/// A coordinate of the thread that runs an iteration of a loop, and how many values it has.
struct ThreadCoordinate {
  int dimension = 0;
  isl::union_pw_aff value;
  std::int64_t threads = 1;
};
/// Those of \p loop, one for each dimension along which it is spread; \p block: threads along each.
std::vector<ThreadCoordinate> coordinates_of(const GridLoop& loop, const std::array<std::int64_t, 3>& block);

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
///
///   before  n of 256, run 2 of 4, warps run 64 of 4    after  band [..., n/64, n%64/8, n/2%4], runs [..., n%2]
void take_apart(const GridLoop& loop, std::int64_t threads, GridLoops& band, GridLoops& runs);

/// The bands of a statement that a unit computes, of the loops \p points around it and its bands \p own; \p sizes: of
/// each loop, the iterations that one instruction has, 1 of one that it knows nothing of. The last band has what one
/// thread has of an instruction, the one before it counts instructions.
///
///   m of 64, k of 32, sizes 16 and 16       bands [k/16], [m/16], [m%16/8, m%8, k%16]
///
/// With \p counted the steps are counted with the instructions: [], [m/16, k/16], [m%16/8, m%8, k%16].
std::vector<GridLoops> take_apart_for_unit(const GridLoops& points, const GridLoops& own,
                                           const std::vector<std::int64_t>& sizes, bool counted);

/// The space of \p instances, unbounded.
isl::union_set everywhere(const isl::union_set& instances);
/// 0 wherever the statements of \p domain have instances.
isl::union_pw_aff zero_on(const isl::union_set& domain);

}  // namespace tc::polyhedral
