#include "tc/polyhedral/map_to_cpu.h"

#include "tc/polyhedral/cluster_view.h"
#include "tc/polyhedral/gather_coincident.h"
#include "tc/polyhedral/mark_parallel.h"
#include "tc/polyhedral/tile_cluster.h"
#include "tc/polyhedral/vectorise.h"

namespace tc::polyhedral {

Scop map_to_cpu(const Scop& scop, const Mapping& mapping) {
  auto result = scop;
  result.schedule = gather_coincident(result);
  auto parts = cluster_views(result);
  for (std::size_t i = 0; i < parts.size() && i < mapping.clusters.size(); ++i) {
    const auto& choice = mapping.clusters[i];
    result.schedule = tile_cluster(result, parts[i], choice);
    result = vectorise(result, parts[i].path, choice);
    if (choice.parallel >= 0) result.schedule = mark_parallel(result.schedule, parts[i].path);
  }
  return result;
}

}  // namespace tc::polyhedral
