#pragma once

#include "tc/base/target.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/options.h"
#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/map/mapping.h"
#include "tc/polyhedral/schedule/gather_coincident.h"
#include "tc/strategy/cpu/cluster_facts.h"
#include "tc/strategy/price/cheapest.h"
#include "tc/strategy/price/priced_cluster.h"

namespace tc::strategy {

/// How to map the clusters of \p clustered, which compute \p bodies, to \p target, without measuring. \p options restrict the choice.
///
/// One analytic model over accesses and limits, the same for every operation, and prices of what it proposes (price.h); for each cluster
/// its heaviest statement decides:
///
///   lanes          for a reduction in loops of its own, the iterator for which the cheapest mapping is cheapest; else the one that
///                  makes an instance cheapest (vector_cost.h):
///                    ((write + sum of reads) * ceil(E / L) + (reduced ? 8 : 0)) / E     E: extent, L: lanes
///                  where an access costs 1/4 if constant along the lanes, 1 if contiguous, 2 backwards, else L; a
///                  contiguous one adds the share of a cache line that its vectors fill where they may begin anywhere in
///                  one; a write counts twice if it accumulates or scatters
///   register tile  for a reduction in loops of its own, the r rows and c columns of accumulators that fit the registers
///                  with the greatest (register_tile.h)
///                    fill(r) * fill(c) * sqrt(min(1, r*c / 8)) / (1 + loads / (3*r*c))
///                    loads = sum over operands of (vector ? 2.5 : 1) * (along rows ? r : 1) * (along columns ? c : 1)
///                    fill  = trips / (trips - rest + 1.3 * rest), rest = trips mod size
///                  other rows that do almost as well are taken where the price of the whole mapping is 5 % less
///   blocks, packs  for a register tile with rows, whose lanes run along an outer member: the copies, blocks, order of loops
///                  and loop on threads that are cheapest (block_candidates.h)
///   lines          without a reduction, a cache line of points where accesses are contiguous, but not along the lanes;
///                  as squares that are transposed in registers, where these hold them
///   staging        accumulators stay in a buffer while a tile runs
///   threads        from 65536 instances on, below which the price is not worth its compile time; else, too, the outer member
///                  and the blocks of it that are cheapest (choose_outermost.h)
///
/// docs/matmul.md follows one product through the formulas.
polyhedral::Mapping choose_mapping(const polyhedral::ClusteredScop& clustered, const Target& target,
                                   const polyhedral::MappingOptions& options, const OperationsOfBodies& bodies = {});

/// The same for \p cluster alone; its `path` is not read, so it may be one that no schedule has yet.
polyhedral::ClusterMapping choose_cluster_mapping(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster,
                                                  const Target& target, const polyhedral::MappingOptions& options,
                                                  const OperationsOfBodies& bodies = {});

/// The same for the cluster of \p facts, whose mappings take \p seconds.
polyhedral::ClusterMapping choose_cluster_mapping(const ClusterFacts& facts, const PriceOfMapping& seconds);

/// Bytes of temporaries that one tile keeps in local buffers; 0: none.
std::int64_t buffer_bytes(const Target& target, const polyhedral::MappingOptions& options);

}  // namespace tc::strategy
