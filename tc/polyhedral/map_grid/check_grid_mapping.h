#pragma once

#include <cstdint>

#include "tc/polyhedral/map_grid/grid_mapping.h"
#include "tc/polyhedral/schedule/gather_coincident.h"

namespace tc::polyhedral {

/// Throws OptionsError, which says what is wrong, unless \p mapping is one of the clusters of \p clustered: it names their
/// members, statements, iterators and tensors, has one line for each, gives each dimension of the grid and of a block to
/// one loop, and has blocks of at most \p most_threads threads. What can be told only of kernels, the laws tell behind
/// the passes.
void check_grid_mapping(const ClusteredScop& clustered, const GridMapping& mapping, std::int64_t most_threads);

}  // namespace tc::polyhedral
