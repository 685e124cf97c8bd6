#pragma once

#include <cstdint>

#include "tc/base/target.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/map/mapping.h"

namespace tc::strategy {

/// Cycles that \p cluster of \p scop may take on all cores of \p target, mapped as \p mapping says, with temporaries of
/// up to \p buffer_bytes a tile in local buffers. Nothing is carried out, so it holds for clusters that no schedule has
/// yet; `path` is not read. Good for comparing ways to run the same statements: what all ways share, the functions of
/// a body for example, is left out.
///
///   cycles     = sum over statements of max(issue, latency, bytes / rate of each cache and of memory) / cores
///   issue      = vectors * max(operations / 2, loads / 2 + stores)
///   loads      one a vector, up to two where vectors cross cache lines, as many as lanes where it lies across them; in a
///              register tile, one for all points along which it stays the same, and for the points of a window that read
///              it too; none where the innermost loop does not change it
///   latency    = vectors * 4 / accumulators, of a reduction; one with more accumulators than registers loads and
///              stores them
///   bytes      what an access touches in the outermost loop of which one iteration fits half of the cache, times the
///              trips of the loops around that; nothing where all of it fits. Statements that touch the same part of a
///              tensor in an iteration of the cluster's members, which fits, fetch it once. Temporaries in local buffers
///              are free, and what is packed or cut into blocks is fetched once
///
/// Two cores take all that memory gives.
double price_cluster(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster,
                     const polyhedral::ClusterMapping& mapping, std::int64_t buffer_bytes, const Target& target);

}  // namespace tc::strategy
