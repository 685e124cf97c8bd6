#include "tc/strategy/grid/spread_members.h"

#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/base/contains.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/strategy/cost/vector_runs.h"
#include "tc/strategy/grid/block_threads.h"

namespace tc::strategy {
namespace {

using polyhedral::ClusterView;
using polyhedral::GridClusterMapping;
using polyhedral::MappingOptions;
using polyhedral::Scop;

/// Iterations of member \p i that the options say run in one block; 0 where they do not say.
std::int64_t asked_tile(const ClusterView& cluster, std::size_t i, const MappingOptions& options) {
  if (options.tile.empty()) return 0;
  auto size = i < options.tile.size() ? options.tile[i] : 0;
  return size == 0 ? cluster.members[i].extent() : size;
}

/// How many neighbouring iterations of member \p x a thread has, as a vector.
std::int64_t member_run(const Scop& scop, const ClusterView& cluster, int x, const MappingOptions& options) {
  if (!options.vectorise) return 1;
  std::int64_t run = widest_access;
  for (const auto& entry : cluster.statements)
    run = std::min(run, entry.outer[x] < 0 ? 1 : vector_run(scop, scop.statement(entry.id), entry.outer[x]));
  auto tile = asked_tile(cluster, static_cast<std::size_t>(x), options);
  bool fits = cluster.members[x].extent() >= 2 * run &&
              (!cluster.members[x].symbolic || cluster.members[x].is_multiple_of(run)) &&
              (tile == 0 || (tile >= 2 * run && tile % run == 0));
  return fits ? run : 1;
}

}  // namespace

GridClusterMapping spread_members(GridClusterMapping mapping, const Scop& scop, const ClusterView& cluster, int x,
                                  const GridLimits& limits, const MappingOptions& options) {
  const auto most = most_threads(limits, options);
  std::int64_t threads = 1;
  int dimension = 0;
  auto take = [&](int i, std::int64_t run) {
    if (dimension > 2) return;
    auto tile = asked_tile(cluster, static_cast<std::size_t>(i), options);
    auto extent = tile > 0 ? std::min(tile, cluster.members[i].extent()) : cluster.members[i].extent();
    auto size = threads_for(ceil_div(extent, run), dimension, most / threads, limits, options);
    if (size <= 1) return;
    mapping.block[dimension] = size;
    mapping.members[i] = {tile > 0 ? tile : size * run, -1, {dimension++, run}};
    threads *= size;
  };
  for (std::size_t i = 0; i < cluster.members.size(); ++i)
    if (auto tile = asked_tile(cluster, i, options); tile > 0) mapping.members[i].tile = tile;
  auto run = member_run(scop, cluster, x, options);
  mapping.others.vector = run > 1;
  take(x, run);
  for (int i = static_cast<int>(cluster.members.size()) - 1; i >= 0; --i)
    if (i != x && (threads < limits.warp_size * enough_warps || !options.block.empty())) take(i, 1);
  return mapping;
}

std::vector<std::string> thread_accumulators(const Scop& scop, const ClusterView& cluster) {
  std::vector<std::string> result;
  for (const auto& entry : cluster.statements) {
    const auto& statement = scop.statement(entry.id);
    if (!statement.accumulates || entry.inner.empty() || !statement.write.exact) continue;
    auto kept = polyhedral::kept_dimensions(statement);
    bool owned = std::all_of(kept.begin(), kept.end(), [&](int i) { return contains(entry.outer, i); });
    auto tensor = polyhedral::range_name(statement.write.relation);
    if (owned && !contains(result, tensor)) result.push_back(tensor);
  }
  return result;
}

}  // namespace tc::strategy
