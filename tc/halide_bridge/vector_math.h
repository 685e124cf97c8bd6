#pragma once

#include <Halide.h>

#include <optional>
#include <string>
#include <vector>

namespace tc::halide_bridge {

/// The built-in tc_<name>_<type> as a straight line of operations on any number of lanes, or nothing for a function
/// that stays a call. Infinities, NaN and denormals are treated as by the C library. Largest errors, in units of the
/// last place:
///
///   exp 0.9   log 0.8   tanh 1.1   sigmoid 2   silu 2.5   softplus 1.7   erf 1.2   gelu 4
///
/// The same operations run in scalar code and in vectors, so that a value does not depend on how a loop was cut.
std::optional<Halide::Expr> expand_math(const std::string& function, const std::vector<Halide::Expr>& args);

}  // namespace tc::halide_bridge
