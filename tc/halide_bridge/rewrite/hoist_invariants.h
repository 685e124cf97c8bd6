#pragma once

#include "tc/halide_bridge/lower/program.h"

namespace tc::halide_bridge {

/// \p program with values that updates would compute again and again assigned to temporaries first.
///
///   before  S1[n,o,k]: Y(n,o) = Y(n,o) + exp(A(n,k))*W(o,k)
///   after   S1[n,k]:   Y_value'(n,k) = exp(A(n,k))
///           S2[n,o,k]: Y(n,o) = Y(n,o) + Y_value'(n,k)*W(o,k)
///
/// Of an update's value, the largest parts of a float type that hold a division or a function, that do not depend on
/// all of its iterators, and that are computed whenever the value is: what stands in an arm of a conditional stays, as
/// it may read outside of tensors elsewhere. A part is hoisted that would be computed `least_repeats` times or more for each
/// of its instances, where the temporary has no more elements than the largest tensor of the statement. Parts that are
/// equal share one temporary. No value reads what its update accumulates (program.h), so none goes stale. Results are the same bit for bit, but for products that are rounded
/// together with a sum where they stand in it: without \p products only their factors are hoisted. Statements are numbered anew.
Program hoist_invariants(const Program& program, bool products = true);

}  // namespace tc::halide_bridge
