#pragma once

#include <set>
#include <string>

#include "tc/halide_bridge/lower/program.h"

namespace tc::halide_bridge {

/// \p program with updates that only do something where a sum of iterators is a multiple of a number run over those
/// instances alone: what a transposed convolution of stride 2 computes.
///
///   before  S0[h]:        O(h) = 0                                                           h in 0:6, k in 0:4
///           S1[h,k]:      O(h) += if_then_else(k <= h && h - k < 4 && (h - k) % 2 == 0, X((h - k)/2)*W(k), 0)
///   after   S0[ho,hi]:    O(2*ho + hi) = 0                                                   ho in 0:3, hi in 0:2, ko in 0:2
///           S1[ho,hi,ko]: O(2*ho + hi) += if_then_else(ko <= ho && ho - ko < 2, X(ho - ko)*W(2*ko + hi), 0)
///
/// That is the layout split(0, 2) of O, which a dense tensor has in the same memory. Of updates that change nothing but where
/// conditions hold, one of which says that a linear function of one iterator of the result and one that is reduced over, and
/// of multiples of the number, is such a multiple: the remainder of the first tells that of the second. Other statements that
/// write the tensor, and those element by element that read it, run over the same quotients and remainders, so that they
/// stay as easy to fuse as they were. Up to three remainders that differ in how many elements or terms they have are a statement each,
/// without a loop over remainders; of more of them, what is left over behind the whole quotients is a statement of its own. The parts of a reduction stand
/// behind what they begin with. Iterators that are \p kept stay. Statements are numbered anew. Reductions have the terms that they had, but identities; a sum that begins as -0
/// may end as 0.
Program split_residues(const Program& program, const std::set<std::string>& kept = {});

}  // namespace tc::halide_bridge
