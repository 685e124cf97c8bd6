#pragma once

#include <optional>

#include "tc/halide_bridge/math/vector_value.h"

namespace tc::halide_bridge::line {

/// x^y by products, a quotient and a root, where 2 y is a whole number and |y| <= 32; nothing for another y. Infinities,
/// NaN, denormals and signed zeros as C's pow. Largest errors, in units of the last place: 0.5 where one operation is
/// enough (y = 2, 0.5, -1), else 0.6 for float32 and 1.5 for float64, of which 1 is that of the root in x^(n + 0.5); 2
/// for float64 powers so small, below 2^-960, that what is below their last place is denormal:
///
///   float32   n - 1 products in float64 are 2^-53 n off, far below half a unit of float32
///   float64   products are sums of two numbers, the second below the last place of the first, so that n of them are
///             2^-100 n off; their sum rounds once
std::optional<Vec> constant_power(const Vec& x, double y);

}  // namespace tc::halide_bridge::line
