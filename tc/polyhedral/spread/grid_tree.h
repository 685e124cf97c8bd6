#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/spread/grid_cluster_state.h"
#include "tc/polyhedral/spread/spread_statement.h"
#include "tc/polyhedral/spread/thread_map.h"

namespace tc::polyhedral {

/// The loops of a kernel spread over blocks and threads, the blocks that they use, and the block of the nest.
struct GridTree {
  isl::schedule schedule;
  isl::union_set blocks;    ///< the filter that spreads instances over blocks
  std::vector<int> inside;  ///< path to the node below the tiles
  Coordinates where;
  std::array<std::int64_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  std::vector<StatementThreads> statements;
};

/// Tiles the one cluster of \p scop and spreads its loops as \p state says.
///
///   before  band [i, j] { S0 } { S1: band [k] }
///   after   band [i/8, j/32]
///             { thread  filter { i mod 8 = thread_y, ... }  band [i%8, j%32]: S0 } { thread ... band [i%8, j%32]  band [k]: S1 }
///
/// By tile_members, spread_over_threads and spread_statement. The serial loops of the statements \p together stand above
/// their `thread` mark: threads run them together.
GridTree grid_tree(const Scop& scop, const GridClusterState& state, const std::vector<std::string>& together);

/// \p scop with the schedule of \p tree, its vectors and units.
Scop with_tree(const Scop& scop, const GridTree& tree);

/// \p scop, with the schedule of \p tree, as a kernel: the filter of blocks, the mark and the context node are added.
///
///   before  band [i/8, j/32] ...      after  context { 0 <= block_x < 32, ... }  kernel  filter { floor(i/8) = block_y, ... }  band ...
Scop as_kernel(const Scop& scop, const GridTree& tree);

/// Each statement and the node of its `thread` mark.
std::vector<std::pair<std::string, isl::schedule_node>> thread_nodes(const isl::schedule& schedule);

}  // namespace tc::polyhedral
