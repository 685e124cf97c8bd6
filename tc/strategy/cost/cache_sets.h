#pragma once

#include <cstdint>
#include <span>

namespace tc::strategy {

/// Bytes of a way of a first cache, which is indexed while the page of an address is looked up: addresses so far apart
/// fall into one set of it.
inline constexpr std::int64_t l1_way_bytes = 4096;

/// Lines, `count` of them, each `bytes` bytes after the one before.
struct LineStep {
  double bytes = 0, count = 1;
};

/// How many sets of a cache lines fall into, where each line of one step begins a row of all that come after it; \p
/// way_bytes are those of a way, a multiple of a line. As if the steps fell into sets apart from each other.
///
///   product of min(count, way / gcd(step, way)), at most way / line
double sets_of(std::span<const LineStep> steps, double way_bytes);

/// How many lines fall into the fullest of these sets.
///
///   lines / sets_of(steps)     16 lines, 4096 bytes apart: 16 of 16;  4160 apart: 1
double lines_of_a_set(std::span<const LineStep> steps, double way_bytes);

}  // namespace tc::strategy
