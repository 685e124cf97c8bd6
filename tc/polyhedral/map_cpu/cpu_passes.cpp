#include "tc/polyhedral/map_cpu/cpu_passes.h"

#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/map/contract.h"
#include "tc/polyhedral/map/privatise_reduction.h"
#include "tc/polyhedral/map/stage_tensor.h"
#include "tc/polyhedral/map_cpu/contract_loops.h"
#include "tc/polyhedral/map_cpu/contract_strips.h"
#include "tc/polyhedral/map_cpu/isolate_whole_points.h"
#include "tc/polyhedral/map_cpu/mark_parallel.h"
#include "tc/polyhedral/map_cpu/pack_reads.h"
#include "tc/polyhedral/map_cpu/tile_cluster.h"
#include "tc/polyhedral/map_cpu/vectorise.h"
#include "tc/polyhedral/nest/branch_points.h"

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

Scop privatise_lanes(const Scop& scop, CpuCluster& cluster) {
  auto result = scop;
  const auto statements = cluster.state.statements;
  for (const auto& choice : statements)
    if (reduces(result, choice)) result = privatise_reduction(result, cluster.view.path, choice, cluster.state);
  return result;
}

Scop block_reductions(const Scop& scop, CpuCluster& cluster) {
  if (cluster.state.reduction.iterator < 0) return scop;
  return block_reduction(scop, cluster.view.path, cluster.state);
}

Scop stage_tensors(const Scop& scop, CpuCluster& cluster) {
  auto result = scop;
  for (const auto& step : cluster.nest.trunk)
    if (const auto* keep = std::get_if<NestKeep>(&step.what))
      result = stage_tensor(result, cluster.view.path, keep->tensor, cluster.state);
  return result;
}

Scop tile(const Scop& scop, CpuCluster& cluster) {
  auto tiled = tile_cluster(scop, cluster);
  cluster.places = tiled.places;
  auto result = scop;
  result.schedule = tiled.schedule;
  result.schedule = isolate_whole_points(result, cluster.view.path);
  return result;
}

/// Where the buffers of a tile are allocated: outside the loops that isl may cut into several, inside those that run in
/// parallel, past the packed copies.
const std::vector<int>& buffers_at(const CpuCluster& cluster) {
  const auto& trunk = cluster.nest.trunk;
  std::size_t step = 0;
  for (std::size_t i = 0; i < trunk.size(); ++i) {
    const auto* loop = std::get_if<NestLoop>(&trunk[i].what);
    if (loop ? loop->place == NestPlace::Cores || loop->with_private_sums
             : std::holds_alternative<NestCopy>(trunk[i].what))
      step = i + 1;
  }
  return cluster.places.at(step);
}

/// Appends the paths to the bodies of loops below \p node that several statements share, innermost first.
void append_shared_bodies(const isl::schedule_node& node, std::vector<std::vector<int>>& bodies) {
  if (statement_ids(node).size() < 2 || node.isa<isl::schedule_node_leaf>()) return;
  const bool is_sequence = node.n_children() > 1;
  for (unsigned i = 0; i < node.n_children(); ++i) {
    auto child = node.child(static_cast<int>(i));
    append_shared_bodies(is_sequence ? child.child(0) : child, bodies);
  }
  if (node.isa<isl::schedule_node_band>()) bodies.push_back(path_of(node.child(0)));
}

/// Temporaries of one iteration of a loop below the tiles are allocated in it, those of a tile where its buffers are.
Scop contract_temporaries(const Scop& scop, CpuCluster& cluster) {
  auto result = scop;
  std::vector<std::vector<int>> bodies;
  append_shared_bodies(node_at(scop.schedule, cluster.places.inside()), bodies);
  for (const auto& body : bodies)
    result = contract(result, body, body, cluster.state, cluster.state.temporaries, cluster.buffer_bytes);
  return contract(result, cluster.places.inside(), buffers_at(cluster), cluster.state, cluster.state.temporaries,
                  cluster.buffer_bytes);
}

/// The buffers of temporaries that several clusters touch. If isl runs out of operations, clusters stay where they are.
Scop contract_shared(const Scop& scop, const std::vector<CpuCluster*>& clusters) {
  std::vector<CpuCluster> before;
  for (const auto* cluster : clusters) before.push_back(*cluster);
  try {
    return contract_loops(contract_strips(scop, clusters), clusters);
  } catch (const isl::exception&) {
    for (std::size_t i = 0; i < clusters.size(); ++i) *clusters[i] = before[i];
    throw;
  }
}

Scop vectorise_points(const Scop& scop, CpuCluster& cluster) { return vectorise(scop, cluster); }

Scop mark_outermost(const Scop& scop, CpuCluster& cluster) {
  if (!is_on_cores(cluster.nest)) return scop;
  auto result = scop;
  for (const auto& band : cluster.copied_once) result.schedule = mark_parallel(result.schedule, band);
  result.schedule = mark_parallel(result.schedule, cluster.places.start());
  return result;
}

}  // namespace

const std::vector<CpuPass>& cpu_passes() {
  static const auto& passes = *new std::vector<CpuPass>{
      {"privatise_reduction", privatise_lanes},
      {"block_reduction", block_reductions},
      {"stage_tensor", stage_tensors},
      {"tile_cluster", tile},
      {"pack", pack_reads},
      {"contract", contract_temporaries, contract_shared},
      {"vectorise", vectorise_points},
      {"mark_parallel", mark_outermost},
  };
  return passes;
}

}  // namespace tc::polyhedral
