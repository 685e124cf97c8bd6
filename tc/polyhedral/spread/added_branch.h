#pragma once

#include <vector>

#include "tc/polyhedral/nest/nest.h"
#include "tc/polyhedral/spread/grid_cluster_state.h"

namespace tc::polyhedral {

/// The loops of a statement that a pass added below the trunk of the nest of \p state: members of the outer band go to
/// threads as in the other branches, and the loops over its own \p iterators, outermost first, are serial, except for the
/// loops of \p own. \p flags says the order, and whether loops are unrolled and the innermost one is a vector.
///
///   S1: k  m%64/4 on thread.y  m%4      points innermost, unrolled      copy_C: c unrolled  m%64/4 on thread.y  m%4 unrolled
///
/// A statement with loops on all threads has no others.
NestBranch added_branch(const GridClusterState& state, const NestBranch& own, const NestAdded& flags,
                        const std::vector<int>& iterators);

}  // namespace tc::polyhedral
