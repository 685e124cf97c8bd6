#pragma once

#include "tc/base/target.h"
#include "tc/polyhedral/cluster_view.h"
#include "tc/polyhedral/mapping.h"
#include "tc/polyhedral/options.h"

namespace tc::strategy {

/// A reduction in a register tile: which outer members are its rows (-1: none) and its columns, along which lanes run.
struct TiledReduction {
  polyhedral::ClusterStatement entry;
  int rows = -1, columns = -1;
};

/// Is a copy of read number \p read of \p entry worth making: is it indexed by iterators, written by no statement of
/// the cluster, and used again by many iterations of outer members that do not index it? Returns how many, 0 where it
/// cannot be copied.
std::int64_t reuse(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster,
                   const polyhedral::ClusterStatement& entry, int read);

/// Blocks for the caches and packed copies for \p tiled, whose register tile stands in \p mapping.
///
///   a read along the lanes    packed in panels where it lies across them, or where the rows of panels are far apart
///   a read along the rows     packed where it lies across the reduction and is used again, or comes from far away
///   the reduction             cut so that the rows of a tile take two thirds of the first cache, where all columns find them; where fewer
///                             than four tiles use rows that run along it, so that a panel takes half of the second cache
///   the columns               cut so that a packed block takes half of the second cache, and every core has one
///   the rows                  cut where they are packed: a quarter of the second cache
///
/// Where both are packed, blocks of columns, one a core or more, each copy all rows again. Where blocks of rows as
/// large as a core's share of the third cache would copy all columns again less often, these come first: their rows are
/// copied once, above the columns.
///
/// Other members that index what is copied stand above the copy. As far as it has room, those stay below along which
/// the tensor is contiguous, so that whole lines are read, and those above which copies of rows would be made again.
/// Rows are not copied for fewer than four uses of a copy, unless they lie far apart in a large tensor.
///
/// Products of unsigned and signed bytes that are summed in 32 bits, one factor packed along the lanes and the other
/// contiguous along the reduction, are summed four at a time by one instruction.
///
/// Also chooses the order of loops and the one that runs on threads; returns false, and changes nothing, where neither
/// copies nor blocks are of use.
bool choose_blocks(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster, const TiledReduction& tiled,
                   const Target& target, const polyhedral::MappingOptions& options,
                   polyhedral::ClusterMapping& mapping);

}  // namespace tc::strategy
