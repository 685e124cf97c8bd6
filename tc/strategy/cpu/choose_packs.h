#pragma once

#include <cstdint>
#include <vector>

#include "tc/strategy/cpu/tiled_reduction.h"

namespace tc::strategy {

/// How many iterations of outer members use an element of a copy of read number \p read of \p entry; 0 where it cannot
/// be copied: no iterators index it, or a statement of the cluster writes the tensor.
std::int64_t copy_uses(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster,
                       const polyhedral::ClusterStatement& entry, int read);

/// A copy of \p read in panels of as many iterations of \p member as a tile has. Its lanes are those of a vector, fewer
/// where a panel, the reduction or digits of an index leave some of them empty.
polyhedral::PackMapping panels(const ReductionView& view, int read, int member, bool panel_last, bool below_blocks);

/// The reads of the tiled reduction that packed copies pay for:
///
///   along the lanes    in panels of columns, where it lies across them, or where the rows of panels are far apart
///   along the rows     in panels of rows, where it lies across the reduction and is used again, or comes from far away;
///                      copied below the blocks
///   of matrices        as the instruction wants columns; rows unless they lie like that, each at the start of a line
std::vector<polyhedral::PackMapping> choose_packs(const ReductionView& view);

/// Products of unsigned and signed bytes that are summed in 32 bits, one factor packed along the lanes and the other
/// contiguous along the reduction, are summed four at a time by one instruction; none otherwise. After the packs.
polyhedral::DotMapping choose_dot(const ReductionView& view);

/// Does read number \p read lie in panels as a copy of it would: in blocks of whole vectors of columns that fit those of tiles,
/// which follow one another along the reduction? Blocks and threads are chosen as for a copy, which then is not made.
bool lies_in_panels(const ReductionView& view, int read);

/// Is \p pack, of rows below the blocks, of use with the blocks and loops that are chosen: would at least four tiles use
/// a copy that fits the second cache? Rows that lie far apart in a large tensor, or as no instruction can read them, are
/// copied in any case.
bool row_copy_pays(const ReductionView& view, const polyhedral::PackMapping& pack);

}  // namespace tc::strategy
