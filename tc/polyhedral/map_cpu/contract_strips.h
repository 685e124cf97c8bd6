#pragma once

#include <vector>

#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/map_cpu/cpu_cluster.h"

namespace tc::polyhedral {

/// Gives each temporary that only one strip at a time touches (fuse_in_strips.h) a buffer of the size that one strip needs, one for each
/// thread. \p clusters are all of \p scop, tiled but without vectors yet, and learn their new places; clusters outside of strips stay
/// as they are.
///
///   before  parallel  band [h]  band [p] { s[h, 64p + i, j] = ... } { ... s[h, 64p + i, j] }
///   after   parallel  band [h]  allocate_local_s  band [p] { local_s[i, j] = ... } { ... local_s[i, j] }
Scop contract_strips(const Scop& scop, const std::vector<CpuCluster*>& clusters);

}  // namespace tc::polyhedral
