#pragma once

#include <vector>

#include "tc/base/target.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/options.h"
#include "tc/polyhedral/map/mapping.h"
#include "tc/strategy/cpu/tiled_reduction.h"

namespace tc::strategy {

/// The candidates for the loops around the register tile of \p tiled in \p mapping, simplest first; prices select the
/// best (price.h). Empty if tiles may not be cut or have no rows.
///
///   copies      each set of possible_packs.h, all of what is read twice or none; of matrices all, which need them
///   reduction   whole; cut so that the rows of a tile take some two thirds of the first cache, where all columns find them;
///               cut so that a panel of columns takes half of the second cache
///   order       columns are copied above the blocks and rows below them, or rows, for a core's share of the third cache, above
///   columns     cut so that a packed block takes half of the second cache
///   rows        cut where they are packed: a quarter of the second cache
///   threads     each loop of thread_loops.h; copies that each thread would make whole are made by each or once for all
///
/// Other members that index a copied tensor are above the copy. As far as the copy fits, members along which the
/// tensor is contiguous stay below it, so that whole cache lines are read, and so do members above which copies of
/// rows would be repeated.
///
///   before  register 8x48           C(m,n) +=! A(m,k) B(k,n)
///   after   register 8x48
///           register 8x48, k in blocks of 512
///           blocks 0x240, above n, register 8x48, pack B in panels of 48 n
///           blocks 0x240, above n, register 8x48, k in blocks of 512, pack B in panels of 48 n, ...
std::vector<polyhedral::ClusterMapping> block_candidates(const polyhedral::Scop& scop,
                                                         const polyhedral::ClusterView& cluster,
                                                         const TiledReduction& tiled, const Target& target,
                                                         const polyhedral::MappingOptions& options,
                                                         const polyhedral::ClusterMapping& mapping);

}  // namespace tc::strategy
