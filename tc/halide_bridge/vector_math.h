#pragma once

#include <Halide.h>

#include <optional>
#include <string>
#include <vector>

namespace tc::halide_bridge {

/// The float32 built-in tc_<name>_f32 as polynomials of any number of lanes, or nothing for a function that stays a call.
/// Infinities, NaN and denormals are treated as by the C library. Largest errors, in units of the last place:
///
///   exp 1.5   log 1.5   tanh 2   sigmoid 2.5   silu 4.5 (or 8e-44)   softplus 2.5   erf 2
///   gelu 3 for x > -1.3, below that 1e-6 of the result times x^2, and 3e-44
///
/// The same operations run in scalar code and in vectors, so that a value does not depend on how a loop was cut.
std::optional<Halide::Expr> expand_math(const std::string& function, const std::vector<Halide::Expr>& args);

}  // namespace tc::halide_bridge
