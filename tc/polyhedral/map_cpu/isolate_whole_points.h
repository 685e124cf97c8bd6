#pragma once

#include <vector>

#include "tc/polyhedral/core/scop.h"

namespace tc::polyhedral {

/// The schedule of \p scop, where the loops directly above the points of a statement, below the node at \p path, ask for code of their own
/// for iterations in which no point is missing: of a statement whose domain orders two of its iterators, such as j <= i. Loops over
/// rows of a triangle so have no conditions but at its border.
///
///   before  for j <= 8t + 7  { unrolled i < 8: if (j <= 8t + i) S[8t + i, j] }
///   after   for j <= 8t      { unrolled i < 8: S[8t + i, j] }     for 8t < j <= 8t + 7  { unrolled i < 8: if (j <= 8t + i) S[8t + i, j] }
isl::schedule isolate_whole_points(const Scop& scop, const std::vector<int>& path);

}  // namespace tc::polyhedral
