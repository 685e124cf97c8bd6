#pragma once

#include "tc/halide_bridge/math/vector_polynomials.h"
#include "tc/halide_bridge/math/vector_value.h"

/// Elementary functions of float64 values as straight lines of operations. With Accuracy::Float32 arguments and results
/// are float32 values, and polynomials are shorter: the error is below 1e-8.
namespace tc::halide_bridge::line::wide {

/// Added to a number it moves the whole part to the low bits: 1.5 * 2^52.
inline constexpr double magic = 6755399441055744;
/// log 2 as a sum.
inline constexpr double log2_high = 0.6931471805599453, log2_low = 2.3190468138462996e-17;

/// x = n log 2 + r with whole n and |r| <= 0.3467, for |x| <= 1100.
struct Reduced {
  Vec r, n;
};
Reduced reduce(const Vec& x, Accuracy accuracy);
Vec polynomial(Polynomial which, const Vec& x, Accuracy accuracy);

/// Lane by lane, to \p accuracy; arguments beyond a domain give NaN.
Vec exp(const Vec& x, Accuracy accuracy);
Vec exp2(const Vec& x, Accuracy accuracy);
Vec exp10(const Vec& x, Accuracy accuracy);
Vec expm1(const Vec& x, Accuracy accuracy);
Vec sinh(const Vec& x, Accuracy accuracy);
Vec cosh(const Vec& x, Accuracy accuracy);
Vec tanh(const Vec& x, Accuracy accuracy);
Vec sigmoid(const Vec& x, Accuracy accuracy);
Vec silu(const Vec& x, Accuracy accuracy);
Vec softplus(const Vec& x, Accuracy accuracy);

/// As above.
Vec log(const Vec& x, Accuracy accuracy);
Vec log2(const Vec& x, Accuracy accuracy);
Vec log10(const Vec& x, Accuracy accuracy);
Vec log1p(const Vec& x, Accuracy accuracy);
Vec asinh(const Vec& x, Accuracy accuracy);
Vec acosh(const Vec& x, Accuracy accuracy);
Vec atanh(const Vec& x, Accuracy accuracy);
Vec pow(const Vec& x, const Vec& y, Accuracy accuracy);
Vec cbrt(const Vec& x, Accuracy accuracy);
Vec rcbrt(const Vec& x, Accuracy accuracy);

/// As above; angles in radians, those of sinpi and cospi in half turns.
Vec sin(const Vec& x, Accuracy accuracy);
Vec cos(const Vec& x, Accuracy accuracy);
Vec tan(const Vec& x, Accuracy accuracy);
Vec sinpi(const Vec& x, Accuracy accuracy);
Vec cospi(const Vec& x, Accuracy accuracy);
Vec asin(const Vec& x, Accuracy accuracy);
Vec acos(const Vec& x, Accuracy accuracy);
Vec atan(const Vec& x, Accuracy accuracy);
Vec atan2(const Vec& y, const Vec& x, Accuracy accuracy);

/// As above.
Vec erf(const Vec& x, Accuracy accuracy);
Vec erfc(const Vec& x, Accuracy accuracy);
Vec erfcx(const Vec& x, Accuracy accuracy);
Vec normcdf(const Vec& x, Accuracy accuracy);
Vec gelu(const Vec& x, Accuracy accuracy);
Vec erfinv(const Vec& x, Accuracy accuracy);

/// The logarithm of the magnitude of the gamma function. Below 0 the error is that of the terms of
/// log(pi/|sin(pi x)|) - lgamma(1 - x), some units of the last place of the greater one: near a zero of the sum, more of
/// its own.
Vec lgamma(const Vec& x, Accuracy accuracy);

}  // namespace tc::halide_bridge::line::wide
