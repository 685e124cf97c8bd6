#include "tc/polyhedral/map_cpu/map_to_cpu.h"

#include "tc/polyhedral/map_cpu/cpu_passes.h"

namespace tc::polyhedral {

Scop map_cluster_to_cpu(const Scop& scop, const ClusterView& cluster, const ClusterMapping& mapping,
                        std::int64_t buffer_bytes) {
  CpuCluster state(cluster, mapping, buffer_bytes);
  auto result = scop;
  for (const auto& pass : cpu_passes()) result = pass.run(result, state);
  return result;
}

Scop map_to_cpu(const ClusteredScop& clustered, const Mapping& mapping) {
  auto result = clustered.scop;
  for (std::size_t i = 0; i < clustered.clusters.size() && i < mapping.clusters.size(); ++i)
    result = map_cluster_to_cpu(result, clustered.clusters[i], mapping.clusters[i], mapping.buffer_bytes);
  return result;
}

}  // namespace tc::polyhedral
