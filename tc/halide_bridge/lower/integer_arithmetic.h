#pragma once

#include <Halide.h>

namespace tc::halide_bridge {

/// All integers from low to high. Wide enough for every value of a 64-bit type and for their sums.
struct Bounds {
  __int128 low = 0, high = 0;

  /// Is \p other within these bounds?
  bool contains(const Bounds& other) const { return low <= other.low && other.high <= high; }
};

/// An integer expression and values it cannot leave.
struct Integer {
  Halide::Expr expr;
  Bounds bounds;
};

/// The values of an integer type.
Bounds bounds_of(Halide::Type type);
Bounds hull(const Bounds& a, const Bounds& b);

/// The exact arithmetic of the language in Halide's. Operands have one type, which the result has too.
///
/// Halide takes signed 32- and 64-bit arithmetic as free of overflow: where the bounds do not prove that, the node
/// works on the unsigned type and the result is reinterpreted.
///
///   before  add(a, b) in int32, nothing known      after  reinterpret<int32>(uint32(a) + uint32(b))
///   before  add(i, 1) in int64, 0 <= i < 100       after  i + 1
///
/// floor_div and floor_mod round towards minus infinity; both give 0 for a divisor of 0 and never trap.
Integer constant(Halide::Type type, __int128 value);
Integer add(const Integer& a, const Integer& b);
Integer subtract(const Integer& a, const Integer& b);
Integer multiply(const Integer& a, const Integer& b);
Integer floor_div(const Integer& a, const Integer& b);
Integer floor_mod(const Integer& a, const Integer& b);
Integer negate(const Integer& a);
Integer minimum(const Integer& a, const Integer& b);
Integer maximum(const Integer& a, const Integer& b);
Integer bit_and(const Integer& a, const Integer& b);
Integer bit_or(const Integer& a, const Integer& b);
Integer bit_xor(const Integer& a, const Integer& b);
/// By a number of bits that the type does not have, a negative one among them, all bits go: 0, and -1 for negative numbers
/// to the right.
Integer shift_left(const Integer& a, const Integer& n);
Integer shift_right(const Integer& a, const Integer& n);
Integer absolute(const Integer& a);
/// \p a modulo 2^bits in \p type.
Integer convert(const Integer& a, Halide::Type type);

}  // namespace tc::halide_bridge
