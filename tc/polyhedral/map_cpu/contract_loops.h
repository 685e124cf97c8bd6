#pragma once

#include <vector>

#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/map_cpu/cpu_cluster.h"

namespace tc::polyhedral {

/// Gives each temporary of an ordered loop that several clusters touch a buffer with as many slots along the loop as elements are
/// needed at one time (buffer_slots.h), where these are fewer than the loop's iterations. \p clusters are all of \p scop, tiled but
/// without vectors yet, and learn their new places. Temporaries that one cluster alone touches have their buffers there.
///
///   before  { ordered loop [t] { h[t, n] = ... h[t - 1, n] } }  { band [k] { ... h[99, n] } }
///   after   allocate_local_h  { ordered loop [t] { local_h[t mod 2, n] = ... } }  { band [k] { ... local_h[1, n] } }
Scop contract_loops(const Scop& scop, const std::vector<CpuCluster*>& clusters);

}  // namespace tc::polyhedral
