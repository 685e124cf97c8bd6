#pragma once

#include <vector>

#include "tc/derive/rules/rewrite.h"
#include "tc/derive/rules/roll_blocks.h"

namespace tc::derive {

/// \p program, whose maximum and sums are over b and w, with a whole last block: sums have no condition, because their operands are
/// copied with zeros behind the last elements, and the maximum is of -inf there.
///
///   s'(n,b,w) +=! 4 b + w < 10 ? q(n,k) * x(4 b + w, k)    x_padded(j,k) = j < 10 ? x(j,k) : 0
///   m(n) max=! 4 b + w < 10 ? s'(n,b,w)                    s'(n,b,w) +=! q(n,k) * x_padded(4 b + w, k)
///                                                          s'_padded(n,b,w) = 4 b + w < 10 ? s'(n,b,w) : -inf
///                                                          m(n) max=! s'_padded(n,b,w)
///
/// No step if blocks divide the range, or if the maximum is not of one temporary in \p view or an operand has other conditions. Adds
/// s'_padded to the temporaries of \p view and \p blocks.
std::vector<Step> padded_blocks(const Program& program, RollView& view, Blocks& blocks);

}  // namespace tc::derive
