#pragma once

#include <Halide.h>

#include <optional>
#include <string>
#include <vector>

namespace tc::halide_bridge {

/// The built-in tc_<name>_<type> as a straight line of operations on any number of lanes, or nothing for a function
/// that stays a call: the Bessel functions, tgamma and the inverses of erfc and normcdf. Infinities, NaN, denormals and signed zeros are treated as by the C library. Largest errors, in units of the last place:
///
///   float32   exp exp2 exp10 log log2 log10 0.9   tanh 1.4   sigmoid 1.5   silu 1.8   softplus 1.7   erf 1.4 gelu 1.6
///             the others, computed in float64, 0.6
///   float64   4; exp, log, sin, cos 1; pow 1.5; most others 2; lgamma of a negative number 5 of its greatest
///             term
///
/// A power with an exponent that is a constant is made of products and roots where it can be (constant_power.h).
/// Of float64 sin, cos, tan beyond 2^30 and of fmod and remainder with a quotient beyond 2^52 (float32: 2^23), lanes
/// are those of the C library. The same operations run in scalar code and in vectors, so that a value does not depend
/// on how a loop was cut.
std::optional<Halide::Expr> expand_math(const std::string& function, const std::vector<Halide::Expr>& args);

}  // namespace tc::halide_bridge
