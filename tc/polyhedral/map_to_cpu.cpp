#include "tc/polyhedral/map_to_cpu.h"

#include "tc/polyhedral/cluster_view.h"
#include "tc/polyhedral/contract.h"
#include "tc/polyhedral/gather_coincident.h"
#include "tc/polyhedral/instances.h"
#include "tc/polyhedral/mark_parallel.h"
#include "tc/polyhedral/pack.h"
#include "tc/polyhedral/privatise_reduction.h"
#include "tc/polyhedral/stage_tensor.h"
#include "tc/polyhedral/tile_cluster.h"
#include "tc/polyhedral/vectorise.h"

namespace tc::polyhedral {
namespace {

/// Does \p choice run a reduction of its statement along lanes?
bool reduces(const Scop& scop, const StatementMapping& choice) {
  if (choice.iterator < 0) return false;
  const auto& statement = scop.statement(choice.id);
  if (!statement.accumulates) return false;
  for (int kept : kept_dimensions(statement))
    if (kept == choice.iterator) return false;
  return true;
}

/// Rewrites the program of one cluster, its loops unchanged: lanes for reductions, temporaries for staged tensors.
Scop rewrite(const Scop& scop, const ClusterView& cluster, ClusterMapping& mapping) {
  auto result = scop;
  auto chosen = mapping.statements;
  for (const auto& choice : chosen)
    if (reduces(result, choice)) result = privatise_reduction(result, cluster.path, choice, mapping);
  auto staged = mapping.staged;
  for (const auto& tensor : staged) result = stage_tensor(result, cluster.path, tensor, mapping);
  return result;
}

/// The tensors copied by the packs of \p mapping, below the outermost loop of the tiled cluster; \p tiled then speaks of
/// the tiles beside the copies. Returns the names of the temporaries.
std::vector<std::string> pack_reads(Scop& scop, const ClusterView& cluster, ClusterMapping& mapping, TiledCluster& tiled) {
  std::vector<std::string> temporaries;
  if (mapping.outermost < 0 || tiled.first == cluster.path) return temporaries;
  auto size = mapping.members[mapping.outermost];
  auto step = size.block > 0 && size.block < cluster.members[mapping.outermost].extent() ? size.block : size.points;
  for (const auto& choice : mapping.packed) {
    for (const auto& entry : cluster.statements) {
      if (entry.id != choice.statement) continue;
      scop = pack(scop, tiled.first, choice, entry.outer[mapping.outermost], step, mapping);
      temporaries.push_back(scop.tensors.back().name);
      std::vector<int> beside = tiled.first;
      beside.insert(beside.end(), {1, 0});
      tiled.inside.insert(tiled.inside.begin() + static_cast<long>(tiled.first.size()), {1, 0});
      tiled.first = beside;
    }
  }
  return temporaries;
}

}  // namespace

Scop map_to_cpu(const Scop& scop, const Mapping& mapping) {
  auto result = scop;
  result.schedule = gather_coincident(result);
  auto parts = cluster_views(result);
  for (std::size_t i = 0; i < parts.size() && i < mapping.clusters.size(); ++i) {
    auto choice = mapping.clusters[i];
    result = rewrite(result, parts[i], choice);
    auto tiled = tile_cluster(result, parts[i], choice);
    result.schedule = tiled.schedule;
    auto place = tiled.first;
    auto packed = pack_reads(result, parts[i], choice, tiled);
    result = contract(result, tiled.inside, tiled.first, choice, choice.staged, mapping.buffer_bytes);
    if (!packed.empty()) result = contract(result, place, place, choice, packed, 0);
    result = vectorise(result, parts[i].path, choice);
    if (choice.parallel && place != parts[i].path) result.schedule = mark_parallel(result.schedule, parts[i].path);
  }
  return result;
}

}  // namespace tc::polyhedral
