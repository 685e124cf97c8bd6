#pragma once

#include <optional>
#include <vector>

#include "tc/strategy/cpu/cluster_facts.h"

namespace tc::strategy {

/// A mapping whose points are chosen.
struct Tiling {
  polyhedral::ClusterMapping mapping;
  VectorChoice lanes = {};                               ///< of the heaviest statement
  std::vector<polyhedral::ClusterMapping> blocked = {};  ///< the same with copies, blocks, loops, and threads
  std::vector<int> rivals = {};  ///< other members whose iterations could be the rows of the register tile
};

/// \p mapping, which has the user's blocks, with points of tiles for \p lanes of the heaviest statement:
///
///   a reduction      a tile of registers for matrices (matrix_tile.h) or of vector registers (register_tile.h), its
///                    window (choose_window.h), and block_candidates() around it
///   other lanes      lines of what lies across them (choose_lines.h)
///
///   before  members 2                      after  register 8x48, ...      C(m,n) +=! A(m,k) B(k,n)
///   before  members 2                      after  points 1x16             C(m,n) = A(m,n)
///
/// With \p rows, the register tile has those.
Tiling choose_tile(const ClusterFacts& facts, const polyhedral::ClusterMapping& mapping, const VectorChoice& lanes,
                   std::optional<int> rows = std::nullopt);

/// The lanes that a tile for the heaviest statement may have, the plainest first; one choice where it is no tiled reduction.
std::vector<VectorChoice> tile_lanes(const ClusterFacts& facts);

}  // namespace tc::strategy
