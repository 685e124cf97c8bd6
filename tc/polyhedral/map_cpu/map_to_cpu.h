#pragma once

#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/map/mapping.h"
#include "tc/polyhedral/schedule/gather_coincident.h"

namespace tc::polyhedral {

/// \p clustered mapped to cores and vectors as \p mapping (strategy::choose_mapping) says, by cpu_passes.h: tiled, point loops sunk to the statements, accumulators privatised for lanes, temporaries and accumulators in local
/// buffers, marks of marks.h inserted.
///
///   before  band [i, j] { S0 } { S1: band [k] }
///   after   parallel  band [i/mr]  band [j/nr]  allocate_acc { register band [i%mr, j%nr/vl]  vector band [lanes]: S0 }
///             { band [k]  register band [i%mr, j%nr/vl]  vector band [lanes]: S1 } { copy out }
///
/// Statements that are added (identities of lanes, copies) are ordinary ones: part of the domain, at their place in
/// program order. A Workspace tensor no access function refers to any more needs no memory.
Scop map_to_cpu(const ClusteredScop& clustered, const Mapping& mapping);

}  // namespace tc::polyhedral
