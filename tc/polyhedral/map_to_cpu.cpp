#include "tc/polyhedral/map_to_cpu.h"

#include "tc/polyhedral/cluster_view.h"
#include "tc/polyhedral/contract.h"
#include "tc/polyhedral/gather_coincident.h"
#include "tc/polyhedral/instances.h"
#include "tc/polyhedral/mark_parallel.h"
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
    result = contract(result, tiled.inside, tiled.threads, choice, choice.staged, mapping.buffer_bytes);
    result = vectorise(result, parts[i].path, choice);
    if (choice.parallel >= 0) result.schedule = mark_parallel(result.schedule, parts[i].path);
  }
  return result;
}

}  // namespace tc::polyhedral
