#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tc/base/matrix_unit.h"
#include "tc/strategy/grid/contraction_view.h"

namespace tc::strategy {

/// A block's share of a product that units for matrices compute.
struct UnitTile {
  std::int64_t rows = 64, columns = 64;          ///< of a warp, or of a group
  std::int64_t warp_rows = 2, warp_columns = 2;  ///< warps, or groups, along rows and along columns
  std::int64_t block = 32;                       ///< steps between two barriers
  int slots = 3;                                 ///< blocks in memory at once

  bool operator==(const UnitTile&) const = default;
};

/// The unit of a warp that can compute the update of \p view, null where none can: it multiplies two operands of a type that
/// a unit of the target has, along one reduced iterator; without options.batch_invariant, as not every shape has a unit.
const MatrixUnit* unit_of(const ContractionView& view);
/// The units of groups of warps that can.
std::vector<const MatrixUnit*> group_units_of(const ContractionView& view);

/// The mapping of \p view in which each warp computes a tile of \p tile by \p unit, or one with its group: rows along y, columns along x and z,
/// both operands in shared memory as they lie in memory, copied asynchronously. Nothing where sizes are no multiples of the
/// tile, operands do not begin at multiples of 16 bytes, or memory does not suffice.
std::optional<polyhedral::GridClusterMapping> tile_units(const ContractionView& view, const MatrixUnit& unit,
                                                         const UnitTile& tile);

}  // namespace tc::strategy
