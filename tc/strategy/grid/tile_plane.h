#pragma once

#include <cstdint>
#include <optional>

#include "tc/polyhedral/map/grid_mapping.h"
#include "tc/strategy/grid/contraction_view.h"

namespace tc::strategy {

/// The tile of a block that has a plane of columns: so many rows of each thread, threads along rows, and planes.
struct PlaneTile {
  std::int64_t run = 8, threads = 4, planes = 1;
};

/// The mapping of a contraction whose columns are few, as the pixels of a small image are: a block computes the columns and a
/// second member of the same operand, the plane, with a thread for each element, and some rows; a thread keeps \p tile.run
/// rows of its element of each of some planes in registers. Operands are copied to shared memory block by block. Nothing where
/// there is no such plane, or a block has no room for it.
///
///   O(n, m, h, w) +=! I(n, c, h + r, w + s) * K(m, c, r, s)      h of 7 on threads y, w of 7 on x, 64 m on 4 z, 2 n
///
/// Rules tile rows and columns by 16 threads, which leaves more than half of them idle here; the price decides which planes,
/// rows and threads pay.
std::optional<polyhedral::GridClusterMapping> tile_plane(const ContractionView& view, const PlaneTile& tile);

}  // namespace tc::strategy
