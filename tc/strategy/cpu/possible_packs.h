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

/// The reads of the tiled reduction that more than one iteration of the outer members uses, as copies; whether they pay is for prices
/// to say, but for those of matrices, which no instruction can read otherwise:
///
///   along the lanes    in panels of columns
///   along the rows     in panels of rows, which are copied below the blocks
///   of matrices        as the instruction wants columns; rows unless they lie like that, each at the start of a line
std::vector<polyhedral::PackMapping> possible_packs(const ReductionView& view);

/// Products of unsigned and signed bytes that are summed in 32 bits, one factor packed along the lanes and the other
/// contiguous along the reduction, are summed four at a time by one instruction; none otherwise. After the packs.
polyhedral::DotMapping choose_dot(const ReductionView& view);

/// Does read number \p read lie in panels as a copy of it would: in blocks of whole vectors of columns that fit those of tiles,
/// which follow one another along the reduction? Blocks and threads are chosen as for a copy, which then is not made.
bool lies_in_panels(const ReductionView& view, int read);

}  // namespace tc::strategy
