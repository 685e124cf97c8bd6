#pragma once

#include <vector>

#include "tc/base/target.h"
#include "tc/polyhedral/core/options.h"
#include "tc/polyhedral/schedule/collapse.h"

namespace tc::strategy {

/// The members of the clusters of \p clustered that are better mapped to a processor as one
/// (polyhedral::collapse): columns of a register tile that are too short to fill vectors, or to have several of them.
///
///   Z(a,b,c,d) +=! X(a,e,b,f) * Y(d,f,c,e)   24 of each: d fills 24 of 32 lanes, c_d 576 of 576
///
/// Of a reduction in a register tile, those members are meant that move the same reads as the columns, innermost in the
/// result first, as many as make enough columns. With E columns in vectors of L lanes, the score of a register tile
/// (register_tile.h) becomes
///
///   score * E / (L * ceil(E / L)) / (1 + copies)
///   copies = sum of (L/4 / s) * 32 / uses    over the reads along the columns and the result, which the whole reduction uses
///
/// where s elements lie side by side: all where the collapsed members run through memory in order, for no cost; else
/// the greatest power of two, at most L, that divides the innermost extent, and less than 4 is too few. Members are
/// collapsed that make the score 1.1 times as great. What is read along them must be indexed by iterators of their own,
/// so that it can be packed.
///
/// Where lanes run along columns that scatter the result, members along which the result and all reads that move with
/// them lie in order take their place, if the tile of their columns has 0.9 of the score:
///
///   Z(n,o,h,w) +=! X(n,c,h,w) * K(o,c)   28 x 28 pixels: h_w 784 of 784, instead of lanes along o
///
/// Options that name sizes or iterators leave members as they are.
std::vector<polyhedral::Collapse> choose_collapse(const polyhedral::ClusteredScop& clustered, const Target& target,
                                                  const polyhedral::MappingOptions& options);

}  // namespace tc::strategy
