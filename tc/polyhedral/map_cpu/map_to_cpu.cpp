#include "tc/polyhedral/map_cpu/map_to_cpu.h"

#include <vector>

#include "tc/polyhedral/map_cpu/cpu_passes.h"

namespace tc::polyhedral {

Scop map_to_cpu(const ClusteredScop& clustered, const Mapping& mapping) {
  std::vector<CpuCluster> clusters;
  for (std::size_t i = 0; i < clustered.clusters.size() && i < mapping.clusters.size(); ++i)
    clusters.emplace_back(clustered.clusters[i], mapping.clusters[i], mapping.buffer_bytes);
  std::vector<CpuCluster*> all;
  for (auto& cluster : clusters) all.push_back(&cluster);
  auto result = clustered.scop;
  for (const auto& pass : cpu_passes()) {
    for (auto* cluster : all) result = pass.run(result, *cluster);
    if (pass.finish) result = pass.finish(result, all);
  }
  return result;
}

}  // namespace tc::polyhedral
