#pragma once

#include <Halide.h>

#include <optional>
#include <string>
#include <vector>

#include "tc/base/dtype.h"

namespace tc::halide_bridge {

/// Conversions of halves are calls: tc_from_half_f32 and tc_to_half_i32 (the bits in the low half),
/// tc_from_bfloat_f32 and tc_to_bfloat_u16.

/// The value in the compute type of an element's bits, Bool() for bool.
Halide::Expr decode(const Halide::Expr& bits, DType type);
/// The bits in memory of a value of the compute type; halves round to nearest even, overflow to infinity and keep NaN.
Halide::Expr encode(const Halide::Expr& value, DType type);

/// A call of a conversion of bfloat16 as operations on its bits; nothing for another function.
std::optional<Halide::Expr> expand_bfloat(const std::string& function, const std::vector<Halide::Expr>& args);

/// A float32 or float64 \p value rounded once to the half \p type, as float32.
Halide::Expr round_to_half(const Halide::Expr& value, DType type);

}  // namespace tc::halide_bridge
