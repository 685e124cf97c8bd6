#pragma once

#include <cstdint>
#include <vector>

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/map/cluster_state.h"
#include "tc/polyhedral/map_cpu/tile_cluster.h"

namespace tc::polyhedral {

/// A cluster on its way through the passes that map it to cores and vectors (cpu_passes.h). Each adds what those behind it
/// need; other clusters of the scop may be further or not.
struct CpuCluster {
  CpuCluster(const ClusterView& cluster, const ClusterMapping& mapping, std::int64_t bytes)
      : view(cluster), state(mapping), buffer_bytes(bytes) {}

  ClusterView view;
  ClusterState state;
  std::int64_t buffer_bytes = 0;              ///< of temporaries that one tile keeps in local buffers
  TilePlaces places;                          ///< tile_cluster; pack moves them past its copies
  std::vector<std::vector<int>> copied_once;  ///< pack: the loops of copies that stand above the outermost loop
};

}  // namespace tc::polyhedral
