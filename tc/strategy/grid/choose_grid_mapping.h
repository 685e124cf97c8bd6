#pragma once

#include <cstdint>

#include "tc/base/target.h"
#include "tc/polyhedral/core/options.h"
#include "tc/polyhedral/map/grid_mapping.h"
#include "tc/polyhedral/schedule/gather_coincident.h"

namespace tc::strategy {

/// What the threads of a block run along: members of the outer band, loops of the statements below it, or what of both suits
/// memory better.
enum class ThreadsAlong : std::uint8_t { Suited, Members, Rows };

/// The mapping to a grid of blocks of threads that suits the clusters of \p clustered on a machine with \p limits, without
/// measuring.
///
/// Along the x dimension of a block runs the loop by which most accesses move by one element, so that neighbouring
/// threads use neighbouring memory: a member of the cluster's outer band, or, where rows belong together, a loop of
/// each statement. Other members are spread over the grid; where x leaves a block too small, the next member or loop
/// fills its y dimension.
polyhedral::GridMapping choose_grid_mapping(const polyhedral::ClusteredScop& clustered, const GridLimits& limits,
                                            const polyhedral::MappingOptions& options);

/// The same of \p cluster alone, with threads \p along what is said where no tile of a product is made.
polyhedral::GridClusterMapping choose_grid_cluster(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster,
                                                   const GridLimits& limits, const polyhedral::MappingOptions& options,
                                                   ThreadsAlong along = ThreadsAlong::Suited);

}  // namespace tc::strategy
