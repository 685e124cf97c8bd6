#pragma once

#include <Halide.h>

#include <cstdint>
#include <limits>

namespace tc::halide_bridge {

/// An integer expression of any number of lanes with an interval that contains its value. Its type is Int(32) where the
/// intervals of it and of its operands fit, else Int(64). 64-bit results that may overflow wrap.
struct Bounded {
  Halide::Expr expr;
  std::int64_t low = std::numeric_limits<std::int64_t>::min();
  std::int64_t high = std::numeric_limits<std::int64_t>::max();

  /// What the bounds say of the value.
  bool fits_int32() const;
  bool is_constant() const { return low == high; }
};

/// \p value, and nothing else.
Bounded exactly(std::int64_t value);
/// The variable \p name, of the narrower type that holds the interval.
Bounded variable(const std::string& name, std::int64_t low, std::int64_t high);
/// \p expr, Int(32) or Int(64), of which nothing but its type is known.
Bounded unknown(const Halide::Expr& expr);
/// \p expr with the interval, narrowed when it fits.
Bounded within(const Halide::Expr& expr, std::int64_t low, std::int64_t high);
/// The expression in Int(64).
Halide::Expr as_int64(const Bounded& value);

/// The operation and the bounds of its result, in int32 where these fit, else in int64.
Bounded add(const Bounded& a, const Bounded& b);
Bounded subtract(const Bounded& a, const Bounded& b);
Bounded multiply(const Bounded& a, const Bounded& b);
/// Halide's quotient and remainder: for a positive \p b the quotient is rounded down; x/0 = x%0 = 0.
Bounded divide(const Bounded& a, const Bounded& b);
Bounded modulo(const Bounded& a, const Bounded& b);
Bounded minimum(const Bounded& a, const Bounded& b);
Bounded maximum(const Bounded& a, const Bounded& b);
/// Either of \p a and \p b by \p condition.
Bounded choose(const Halide::Expr& condition, const Bounded& a, const Bounded& b);

/// Both expressions in the narrower type that holds both, and of the same number of lanes.
void match(Bounded& a, Bounded& b);
/// \p expr repeated to \p lanes unless it has them.
Halide::Expr broadcast(const Halide::Expr& expr, int lanes);
/// The expressions with the larger number of lanes of the two.
void match_lanes(Halide::Expr& a, Halide::Expr& b);

/// Simplifies an integer expression without floats inside.
Bounded simplified(Bounded value);

}  // namespace tc::halide_bridge
