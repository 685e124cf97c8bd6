#pragma once

#include <Halide.h>

#include <string>
#include <vector>

namespace tc::halide_bridge {

/// The built-in float function \p function (see lang/builtins.h) of \p arguments, which are all Float(32) or all
/// Float(64).
///
/// Functions whose Halide node is exact become that node: sqrt, floor, ceil, trunc, fabs and abs, fdivide, rsqrt. Every
/// other one becomes a PureExtern call `tc_<name>_f32` or `tc_<name>_f64` of the arguments' type; isnan and isinf give
/// Bool(). Among them min and max, where a NaN wins, fmin and fmax, where it loses, and fmod: Halide's own Min, Max and
/// Mod promise nothing for NaN. relu and clamp are made of min and max.
Halide::Expr float_call(const std::string& function, const std::vector<Halide::Expr>& arguments);

/// \p condition negated so that Halide's simplifier keeps it: it turns !(a < b) into b <= a, which is wrong for NaN.
/// Not for integers, an exclusive or with true where a float comparison stands inside.
Halide::Expr negation(const Halide::Expr& condition);

/// \p value as \p type, float to integer: cut towards zero, saturated, 0 for NaN.
Halide::Expr truncate_float(const Halide::Expr& value, Halide::Type type);

}  // namespace tc::halide_bridge
