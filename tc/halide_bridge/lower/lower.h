#pragma once

#include "tc/halide_bridge/lower/program.h"

namespace tc::halide_bridge {

/// \p def (checked, without calls and lets) as Halide IR for concrete \p sizes, and for all values of the \p symbolic ones that
/// meet its preconditions: of these \p sizes has the largest.
///
///   before  O(i) +=! A(i,k) where k in 0:K       after  S0[i]: O(i) = 0    S1[i,k]: O(i) = O(i) + A(i,k)
///
/// In particular: op=! becomes Init and Update; a reduction into a half type accumulates in a float32 temporary that is
/// stored once; a statement that reads its own target at other subscripts, or within a reduction, reads a copy of it
/// made before; each data-dependent subscript gets a check statement `flag ||= guard && !(inside)` in an earlier
/// launch, inner subscripts before outer ones, checks that read parameters only in the first launch of all. Integer /
/// and % are floor operations with x/0 = x%0 = 0. Throws ResourceError where an iterator runs over more than most_counted
/// values, so that no count of a box is less than an extent;
/// OptionsError where a symbolic size stands in a range or a precondition that is not affine in symbolic sizes, or decides
/// where a range begins.
Program lower(const lang::Def& def, const lang::Ranges& ranges, const lang::SizeMap& sizes,
              const lang::SizeRanges& symbolic = {});

}  // namespace tc::halide_bridge
