#pragma once

#include <Halide.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tc/base/dtype.h"

namespace tc::halide_bridge {

/// \p body of a variable that stands for \p value, which is computed once; of \p value itself when it is cheap to
/// repeat.
Halide::Expr let(const Halide::Expr& value, const std::function<Halide::Expr(const Halide::Expr&)>& body);

/// False in lanes where \p value is a NaN.
Halide::Expr is_number(const Halide::Expr& value);

/// a op b for values of the compute type \p a has: integers wrap, a NaN in min and max stays.
Halide::Expr combine(ReductionOp op, const Halide::Expr& a, const Halide::Expr& b);

/// The identity of \p op in the compute type of \p type.
Halide::Expr identity(ReductionOp op, DType type);

/// All lanes of \p value combined, pairwise: lane i with lane i + n/2, and so on.
Halide::Expr combine_lanes(ReductionOp op, const Halide::Expr& value);

/// A call of the built-in tc_<name>_<type> as an expression of select and comparison where that is exact: min, max,
/// fmin, fmax, isnan, isinf. Nothing for another function.
std::optional<Halide::Expr> expand_builtin(const std::string& function, const std::vector<Halide::Expr>& args);

/// The float \p x without its sign, of NaN and 0 too.
Halide::Expr without_sign(const Halide::Expr& x);

}  // namespace tc::halide_bridge
