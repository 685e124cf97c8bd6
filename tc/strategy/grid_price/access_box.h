#pragma once

#include <cstdint>
#include <vector>

#include "tc/strategy/price/priced_cluster.h"

namespace tc::strategy {

/// Elements between two that something unknown tells apart, as a subscript that is read.
inline constexpr std::int64_t far_apart = std::int64_t{1} << 24;

/// Elements in memory at equal distances, along some dimensions: `count` of them, `stride` elements apart, the least
/// stride first.
struct BoxSide {
  std::int64_t stride = 1, count = 1;
  bool operator==(const BoxSide&) const = default;
};

/// What \p access touches while iterator i takes \p values[i] consecutive values. Iterators along which it moves in
/// multiples of each other, so that what they touch overlaps or joins, are one side: windows, rows that are whole.
///
///   X[h + kh, w + kw] of rows of 66, 4 x 64 places, 3 x 3     {1, 66}, {66, 6}, which join: {1, 396}
std::vector<BoxSide> access_box(const PricedAccess& access, const std::vector<std::int64_t>& values);

/// The elements of \p box.
double elements(const std::vector<BoxSide>& box);

/// Pieces of \p sector bytes that the elements of \p box lie in, of \p element bytes each: rows that begin anywhere,
/// unless all begin at multiples of a sector.
double sectors(const std::vector<BoxSide>& box, double element, double sector);

}  // namespace tc::strategy
