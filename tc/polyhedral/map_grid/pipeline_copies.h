#pragma once

#include <vector>

#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/map_grid/barriers.h"
#include "tc/polyhedral/spread/grid_cluster_state.h"

/// Software pipelining: copies are made while the threads compute with those of an earlier block.
namespace tc::polyhedral {

/// Moves the instances of \p copies to earlier iterations of the band of one member at \p band, which counts blocks.
///
///   before  band [k/16] { copy_A } { copy_B } { U }
///   after   band [k/16 - 1; U: k/16] { copy_A } { copy_B } { U }        copies one block ahead
Scop run_ahead(const Scop& scop, const std::vector<int>& band, const std::vector<GridAhead>& copies);

/// The node above \p node and the marks above it.
isl::schedule_node band_above(const isl::schedule_node& node);

/// The kernel \p scop with code of its own for the iterations that only copy, those before the first block of
/// the loop over blocks.
Scop isolate_first_copies(const Scop& scop, const GridClusterState& state);

/// The synchronisation behind statements (insert_barriers) that asynchronous copies need: those of one iteration are a
/// group, and each iteration ends when the copies of the next block are there.
///
///   before  band [k/16 - 1; U: k/16] { copy_A } { copy_B } { U }
///   after   band [the same] { copy_A } { copy_B } { tc_copy_commit } { U } { tc_copy_wait_0 }
///
/// Products of an asynchronous unit are a group too. Those of one block are under way while copies are made for the slot
/// behind the next, and the threads wait for all behind the loop:
///
///   after   band [the same] { copy_A } { copy_B } { tc_copy_commit } { tc_unit_begin } { U } { tc_unit_commit } { tc_unit_wait_1 }
///             { tc_copy_wait_0 } { tc_proxy_fence }
///           { tc_unit_wait_0 }
Synchronisation copy_waits(const Scop& scop, const GridClusterState& state);

}  // namespace tc::polyhedral
