#include "tc/polyhedral/map_cpu/map_to_cpu.h"

#include <vector>

#include "tc/polyhedral/map_cpu/cpu_passes.h"
#include "tc/polyhedral/nest/nest_of_mapping.h"

namespace tc::polyhedral {

Scop map_to_cpu(const ClusteredScop& clustered, const Mapping& mapping) {
  std::vector<Nest> nests;
  for (std::size_t i = 0; i < clustered.clusters.size() && i < mapping.clusters.size(); ++i)
    nests.push_back(nest_of(clustered.scop, clustered.clusters[i], mapping.clusters[i]));
  return map_to_cpu(clustered, nests, mapping.buffer_bytes);
}

Scop map_to_cpu(const ClusteredScop& clustered, const std::vector<Nest>& nests, std::int64_t buffer_bytes) {
  std::vector<CpuCluster> clusters;
  for (std::size_t i = 0; i < nests.size(); ++i) {
    const auto& view = clustered.clusters.at(i);
    clusters.emplace_back(view, nest_space(clustered.scop, view), nests[i], buffer_bytes);
  }
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
