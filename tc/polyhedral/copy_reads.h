#pragma once

#include "tc/polyhedral/grid_mapping.h"
#include "tc/polyhedral/scop.h"

namespace tc::polyhedral {

/// Copies what \p mapping.copies says into temporaries, which the threads of a block fill together before they read them; cuts the
/// reduction \p mapping.blocks into blocks first, one copy for each.
///
///   before  band [m, n] { U: band [k]  ... A[m, k] ... }
///   after   band [m, n] { U: band [k/16] { copy_A[m, k, b]: block_A[m, k, b] = A[m, k] } { U: band [k%16]  ... block_A[m, k, n/128] ... } }
///
/// The last dimensions of a copy count the tiles of members that do not index the tensor: each tile has a copy of its own. Adds
/// the mappings of the copies and the names of the temporaries to \p mapping.
Scop copy_reads(const Scop& scop, GridClusterMapping& mapping);

/// The deepest node of \p schedule below which all of \p statements stand.
isl::schedule_node common_node(const isl::schedule& schedule, const std::vector<std::string>& statements);

}  // namespace tc::polyhedral
