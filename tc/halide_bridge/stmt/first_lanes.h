#pragma once

#include <Halide.h>

namespace tc::halide_bridge {

/// The number of the last lane that runs under \p predicate, where it says just that the lanes up to it do, as those of a
/// partial vector; undefined otherwise.
///
///   ramp(0, 1, 8) <= x8(n)      n
Halide::Expr last_running_lane(const Halide::Expr& predicate);

}  // namespace tc::halide_bridge
