#pragma once

#include <set>
#include <string>

#include "tc/halide_bridge/lower/program.h"

namespace tc::halide_bridge {

/// \p program with updates that do something only where a linear function of iterators is 0 solved for one that is reduced over.
/// A scatter to linear subscripts, such as a transposed convolution, becomes a gather: its loops write elements of their own.
///
///   before  S1[p,h,k]: O(p) += if_then_else(2*h + k == p, X(h)*W(k), 0)                               h in 0:H, k in 0:4
///   after   S1[p,k]:   O(p) += if_then_else((p - k) % 2 == 0 && 0 <= (p - k)/2 && (p - k)/2 < H, X((p - k)/2)*W(k), 0)
///
/// Of updates that change nothing but where conditions hold. Of the iterators that are reduced over, the longest one is solved for
/// whose factor is 1 or -1, or prime to that of another one and of an iterator of the result: `split_residues` then leaves no instance
/// that does nothing. Iterators that are \p kept stay. Reductions have the terms that they had, but identities, in another order; a sum that
/// begins as -0 may end as 0.
Program solve_matches(const Program& program, const std::set<std::string>& kept = {});

}  // namespace tc::halide_bridge
