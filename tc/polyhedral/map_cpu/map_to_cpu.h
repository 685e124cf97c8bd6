#pragma once

#include <cstdint>
#include <vector>

#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/map/mapping.h"
#include "tc/polyhedral/nest/nest.h"
#include "tc/polyhedral/schedule/gather_coincident.h"

namespace tc::polyhedral {

/// \p clustered mapped to cores and vectors as \p nests, one of each cluster, say (cpu_passes.h): tiled, points sunk to the
/// statements, accumulators privatised for lanes, accumulators and temporaries of up to \p buffer_bytes a tile in local
/// buffers, marks of marks.h inserted. Clusters without a nest stay as they are.
///
///   before  band [i, j] { S0 } { S1: band [k] }
///   after   parallel  band [i/mr]  band [j/nr]  allocate_acc { register band [i%mr, j%nr/vl]  vector band [lanes]: S0 }
///             { band [k]  register band [i%mr, j%nr/vl]  vector band [lanes]: S1 } { copy out }
///
/// Statements that are added (identities of lanes, copies) are ordinary ones: part of the domain, at their place in
/// program order. A Workspace tensor no access function refers to any more needs no memory.
Scop map_to_cpu(const ClusteredScop& clustered, const std::vector<Nest>& nests, std::int64_t buffer_bytes = 0);
/// The same for the nests of \p mapping.
Scop map_to_cpu(const ClusteredScop& clustered, const Mapping& mapping);

}  // namespace tc::polyhedral
