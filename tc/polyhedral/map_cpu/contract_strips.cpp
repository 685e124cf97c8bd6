#include "tc/polyhedral/map_cpu/contract_strips.h"

#include <cstdint>
#include <map>
#include <utility>

#include "tc/polyhedral/map/contract.h"

namespace tc::polyhedral {
namespace {

using Path = std::vector<int>;

/// The sequence that the strip of \p cluster consists of: its child is a filter, and below that stands the cluster.
Path sequence_above(const CpuCluster& cluster) {
  auto result = cluster.view.path;
  result.resize(result.size() - 2);
  return result;
}

/// Where a buffer of the strips whose clusters stand in the sequence at \p inside is allocated: below the loop on threads, above other
/// loops, which isl may cut into several.
Path place_of(const Scop& scop, const Path& inside) {
  auto node = node_at(scop.schedule, inside);
  const auto is_band = [](const isl::schedule_node& each) { return each.isa<isl::schedule_node_band>(); };
  while (is_band(node.parent()) && is_band(node.parent().parent())) node = node.parent();
  return path_of(node);
}

}  // namespace

Scop contract_strips(const Scop& scop, const std::vector<CpuCluster*>& clusters) {
  std::map<Path, std::vector<CpuCluster*>> strips;
  for (auto* cluster : clusters)
    if (cluster->view.in_strips()) strips[sequence_above(*cluster)].push_back(cluster);
  auto result = scop;
  std::map<Path, std::pair<Path, std::size_t>> inserted;
  for (const auto& [inside, inner] : strips) {
    const auto before = result.tensors.size();
    const auto place = place_of(result, inside);
    result = contract(result, inside, place, joined_state(inner), {}, INT64_MAX);
    inserted[inside] = {place, result.tensors.size() - before};
  }
  for (const auto& [inside, inner] : strips)
    for (auto* cluster : inner) move_below(*cluster, inserted.at(inside).first, inserted.at(inside).second);
  return result;
}

}  // namespace tc::polyhedral
