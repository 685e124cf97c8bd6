#include "tc/strategy/grid/choose_grid_mapping.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "tc/strategy/grid/block_threads.h"
#include "tc/strategy/grid/copy_gathers.h"
#include "tc/strategy/grid/promote_temporaries.h"
#include "tc/strategy/grid/spread_members.h"
#include "tc/strategy/grid/spread_over_grid.h"
#include "tc/strategy/grid/spread_rows.h"
#include "tc/strategy/grid/thread_gain.h"
#include "tc/strategy/grid/tile_contraction.h"
#include "tc/strategy/grid/tile_transposition.h"

namespace tc::strategy {
namespace {

using polyhedral::ClusterView;
using polyhedral::GridClusterMapping;
using polyhedral::MappingOptions;
using polyhedral::Scop;

/// Elements of one temporary in the registers of a thread.
constexpr std::int64_t most_elements = 128;

/// Of \p cluster nothing is spread yet; the memory that it may use.
GridClusterMapping unspread(const ClusterView& cluster, const GridLimits& limits, const MappingOptions& options) {
  GridClusterMapping result;
  result.members.resize(cluster.members.size());
  result.shared_bytes = options.shared ? shared_bytes(limits, options) : 0;
  result.thread_elements = options.registers ? most_elements : 0;
  return result;
}

/// \p mapping with threads along the members of the outer band, the best of which is \p x.
GridClusterMapping in_members(GridClusterMapping mapping, const Scop& scop, const ClusterView& cluster, int x,
                              const GridLimits& limits, const MappingOptions& options) {
  mapping = spread_members(std::move(mapping), scop, cluster, x, limits, options);
  if (options.promote && options.registers && options.tile.empty()) mapping.staged = thread_accumulators(scop, cluster);
  copy_gathers(scop, cluster, options, mapping);
  bool loops = std::any_of(cluster.statements.begin(), cluster.statements.end(),
                           [](const auto& entry) { return !entry.inner.empty(); });
  mapping.separate = loops && has_partial_tiles(mapping, cluster);
  return mapping;
}

/// The tiles and threads of a cluster of any kind.
GridClusterMapping choose_threads(const Scop& scop, const ClusterView& cluster, const GridLimits& limits,
                                  const MappingOptions& options, ThreadsAlong along) {
  most_threads(limits, options);
  auto mapping = unspread(cluster, limits, options);
  auto squares =
      along == ThreadsAlong::Suited ? tile_transposition(mapping, scop, cluster, limits, options) : std::nullopt;
  if (squares) return *squares;
  auto [member, gain] = best_member(scop, cluster);
  bool suited = along == ThreadsAlong::Suited && rows_belong_together(scop, cluster, gain, limits, options);
  bool rows = member < 0 || along == ThreadsAlong::Rows || suited;
  mapping = rows ? spread_rows(std::move(mapping), scop, cluster, limits, options)
                 : in_members(std::move(mapping), scop, cluster, member, limits, options);
  return promote_temporaries(std::move(mapping), scop, cluster, options);
}

/// The three members with most tiles, the innermost of them first.
std::vector<int> longest_members(const GridClusterMapping& mapping, const ClusterView& cluster) {
  std::vector<int> order(cluster.members.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return tile_count(mapping, cluster, a) > tile_count(mapping, cluster, b); });
  if (order.size() > 3) order.resize(3);
  std::sort(order.begin(), order.end(), std::greater<>());
  return order;
}

}  // namespace

GridClusterMapping choose_grid_cluster(const Scop& scop, const ClusterView& cluster, const GridLimits& limits,
                                       const MappingOptions& options, ThreadsAlong along) {
  bool chooses = options.block.empty() && options.tile.empty() && options.shared && options.registers;
  if (auto tiled = chooses ? tile_contraction(scop, cluster, limits, options) : std::nullopt) return *tiled;
  auto mapping = choose_threads(scop, cluster, limits, options, along);
  auto order = longest_members(mapping, cluster);
  return spread_over_grid(std::move(mapping), cluster, order, limits, options.grid);
}

polyhedral::GridMapping choose_grid_mapping(const polyhedral::ClusteredScop& clustered, const GridLimits& limits,
                                            const MappingOptions& options) {
  polyhedral::GridMapping result;
  for (const auto& cluster : clustered.clusters)
    result.clusters.push_back(choose_grid_cluster(clustered.scop, cluster, limits, options));
  return result;
}

}  // namespace tc::strategy
