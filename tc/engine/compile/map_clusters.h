#pragma once

#include <vector>

#include "tc/engine/compile/back_end.h"

namespace tc::engine {

/// The stages that map the clusters of a launch to a CPU: fuse_in_strips, gather_coincident, collapse, choose, nest, the passes of
/// polyhedral::cpu_passes(), map.
///
/// Each cluster has a quota of its own for all of these. Where it runs out, the cluster is left as it is scheduled, its
/// mapping becomes a serial one, and the others are mapped as they would have been.
std::vector<LaunchStage> cluster_stages();

}  // namespace tc::engine
