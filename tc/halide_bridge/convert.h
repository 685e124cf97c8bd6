#pragma once

#include <Halide.h>

#include "tc/base/dtype.h"

namespace tc::halide_bridge {

/// Conversions of float16 are calls of cpu/lane_functions.h.

/// The value in the compute type of an element's bits, Bool() for bool.
Halide::Expr decode(const Halide::Expr& bits, DType type);
/// The bits in memory of a value of the compute type; halves round to nearest even, overflow to infinity and keep NaN.
Halide::Expr encode(const Halide::Expr& value, DType type);

/// A float32 or float64 \p value rounded once to the half \p type, as float32.
Halide::Expr round_to_half(const Halide::Expr& value, DType type);

}  // namespace tc::halide_bridge
