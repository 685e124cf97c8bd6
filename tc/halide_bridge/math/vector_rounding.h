#pragma once

#include "tc/halide_bridge/math/vector_value.h"

/// Functions that are exact or rounded once, of float32 or float64 values.
namespace tc::halide_bridge::line {

/// As the C library's functions of these names.
Vec floor(const Vec& x);
Vec ceil(const Vec& x);
Vec trunc(const Vec& x);
Vec logb(const Vec& x);
Vec fdim(const Vec& x, const Vec& y);
Vec nextafter(const Vec& x, const Vec& y);
/// By one fused product where the quotient is below 2^52 (float64) or 2^23 (float32); else a call of the C library.
Vec fmod(const Vec& x, const Vec& y);
Vec remainder(const Vec& x, const Vec& y);
/// The length of a vector, and its inverse.
Vec norm(const std::vector<Vec>& x);
Vec inverse_norm(const std::vector<Vec>& x);

}  // namespace tc::halide_bridge::line
