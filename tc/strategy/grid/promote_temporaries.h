#pragma once

#include <string>
#include <vector>

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/options.h"
#include "tc/polyhedral/map/grid_mapping.h"

namespace tc::strategy {

/// \p mapping with the temporaries that \p cluster touches promoted to buffers, unless the options forbid it.
/// Statements of which a thread has few iterations are unrolled, so that such buffers can be registers.
///
///   before  S: i1 threads x run 4, block 256        i1 of 1024 iterations, t(i, j) of the def's own
///   after   S: i1 threads x run 4, block 256, promote t
polyhedral::GridClusterMapping promote_temporaries(polyhedral::GridClusterMapping mapping, const polyhedral::Scop& scop,
                                                   const polyhedral::ClusterView& cluster,
                                                   const polyhedral::MappingOptions& options);

/// The temporaries of the program, which nobody sees before or after it, that \p cluster touches.
std::vector<std::string> temporaries_of(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster);

}  // namespace tc::strategy
