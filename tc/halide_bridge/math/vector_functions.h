#pragma once

#include "tc/halide_bridge/math/vector_value.h"

/// Elementary functions as straight lines of operations. Infinities, NaN, denormals and signed zeros are treated as by
/// the C library.
namespace tc::halide_bridge::line {

/// (y + low) 2^n with y in [0.7, 1.42] and whole n: a power whose scaling is still to be done; low is below y's last
/// place.
struct Scaled {
  Vec y, n, low;
};
/// For less, e^x is 0: -112 is y 2^-162 (unless_small).
inline constexpr double least_exponent = -112;
/// e^(x + low) for -112 <= x <= 89 (float32) and low below 2^-20 in magnitude.
Scaled scaled_exponential(const Vec& x);
Scaled scaled_exponential(const Vec& x, const Vec& low);

/// Lane by lane, within a few units in the last place (docs/language.md); arguments beyond a domain give NaN.
Vec exp(const Vec& x);
Vec exp2(const Vec& x);
Vec exp10(const Vec& x);
/// exp(x) for x <= 0 or NaN.
Vec exp_of_negative(const Vec& x);
Vec sigmoid(const Vec& x);
Vec silu(const Vec& x);
Vec tanh(const Vec& x);

/// As above.
Vec log(const Vec& x);
Vec log2(const Vec& x);
Vec log10(const Vec& x);
Vec softplus(const Vec& x);

/// As above.
Vec erf(const Vec& x);
Vec gelu(const Vec& x);

}  // namespace tc::halide_bridge::line
