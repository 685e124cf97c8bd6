#pragma once

#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/spread/grid_cluster_state.h"

namespace tc::polyhedral {

/// Takes the loop over \p blocks of a reduced iterator out of the own loops of its statement, which stand at \p node.
/// Returns the node below that loop.
///
///   before  band [c, k]          after, blocks of 16 k  band [k/16] { band [c, k%16] }
isl::schedule_node cut_into_blocks(const Scop& scop, const isl::schedule_node& node, const CopyBlocks& blocks);

}  // namespace tc::polyhedral
