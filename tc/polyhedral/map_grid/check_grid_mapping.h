#pragma once

#include "tc/base/target.h"
#include "tc/polyhedral/map/grid_mapping.h"
#include "tc/polyhedral/schedule/gather_coincident.h"

namespace tc::polyhedral {

/// Throws OptionsError, which says what is wrong, unless \p mapping is one of the clusters of \p clustered: it names their
/// members, statements, iterators and tensors, has one line for each, gives each dimension of the grid and of a block to
/// one loop of a statement, and has no more blocks and threads than a machine with \p limits. What can be told only of kernels, the
/// laws tell behind the passes.
void check_grid_mapping(const ClusteredScop& clustered, const GridMapping& mapping, const GridLimits& limits);

}  // namespace tc::polyhedral
