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

/// How the statements of all \p clusters run.
ClusterState joined(const std::vector<CpuCluster*>& clusters) {
  ClusterState result;
  for (const auto* cluster : clusters) {
    const auto& state = cluster->state;
    result.added.insert(result.added.end(), state.added.begin(), state.added.end());
    result.statements.insert(result.statements.end(), state.statements.begin(), state.statements.end());
    if (result.dot.iterator < 0) result.dot = state.dot;
  }
  return result;
}

/// \p path, where \p count nodes were inserted above the node at \p place, above which it ends if it leads nowhere yet.
void move_below(Path& path, const Path& place, std::size_t count) {
  if (path.size() < place.size()) return;
  path.insert(path.begin() + static_cast<Path::difference_type>(place.size()), count, 0);
}

void move_below(CpuCluster& cluster, const Path& place, std::size_t count) {
  move_below(cluster.view.path, place, count);
  for (auto& path : cluster.places.below) move_below(path, place, count);
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
    result = contract(result, inside, place, joined(inner), {}, INT64_MAX);
    inserted[inside] = {place, result.tensors.size() - before};
  }
  for (const auto& [inside, inner] : strips)
    for (auto* cluster : inner) move_below(*cluster, inserted.at(inside).first, inserted.at(inside).second);
  return result;
}

}  // namespace tc::polyhedral
