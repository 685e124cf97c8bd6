#pragma once

#include "tc/base/target.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/options.h"
#include "tc/polyhedral/map/mapping.h"
#include "tc/strategy/cpu/tiled_reduction.h"

namespace tc::strategy {

/// Packed copies (choose_packs.h), blocks for the caches, the order of loops and the one that runs on threads
/// (choose_threads.h) for \p tiled, whose register tile stands in \p mapping.
///
///   the reduction   cut so that the rows of a tile take some two thirds of the first cache, where all columns find them; where
///                   fewer than four tiles use rows that run along it, so that a panel takes some half of the second cache
///                   (a quarter more at most)
///   the columns     cut so that a packed block takes half of the second cache, and every core has one
///   the rows        cut where they are packed: a quarter of the second cache
///
/// Where both are packed, blocks of columns, one a core or more, each copy all rows again, unless threads copy these
/// once. Where blocks of rows as large as a core's share of the third cache would copy all columns again less often,
/// these come first: their rows are copied once, above the columns.
///
/// Other members that index what is copied stand above the copy. As far as it has room, those stay below along which
/// the tensor is contiguous, so that whole lines are read, and those above which copies of rows would be made again.
/// Copies of rows that do not pay then are dropped.
///
/// Returns false, and changes nothing, where neither copies nor blocks are of use.
bool choose_blocks(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster, const TiledReduction& tiled,
                   const Target& target, const polyhedral::MappingOptions& options,
                   polyhedral::ClusterMapping& mapping);

}  // namespace tc::strategy
