#include "tc/strategy/grid/tile_transposition.h"

#include <algorithm>

#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/map/copy_dimensions.h"
#include "tc/strategy/cost/vector_runs.h"
#include "tc/strategy/grid/block_threads.h"
#include "tc/strategy/grid/spread_over_grid.h"

namespace tc::strategy {
namespace {

using polyhedral::Access;
using polyhedral::ClusterView;
using polyhedral::GridClusterMapping;
using polyhedral::Scop;

/// The read number `read` goes along member `along`, the write along member `written`.
struct Transposition {
  int read = 0, along = 0, written = 0;
};

/// The member along which \p access of the one statement of \p cluster is contiguous, -1 if none is.
int contiguous_member(const Scop& scop, const ClusterView& cluster, const Access& access) {
  const auto& outer = cluster.statements[0].outer;
  for (std::size_t i = 0; i < outer.size(); ++i)
    if (outer[i] >= 0 && polyhedral::stride(scop, access, outer[i]) == 1) return static_cast<int>(i);
  return -1;
}

/// The first read of the one statement of \p cluster that is a transposition of members with \p least iterations each.
std::optional<Transposition> find_transposition(const Scop& scop, const ClusterView& cluster, std::int64_t least) {
  const auto& entry = cluster.statements[0];
  const auto& statement = scop.statement(entry.id);
  if (statement.accumulates || !statement.write.exact || !entry.inner.empty()) return std::nullopt;
  auto is_long = [&](int member) { return cluster.members[member].extent() >= least; };
  int written = contiguous_member(scop, cluster, statement.write);
  if (written < 0 || !is_long(written)) return std::nullopt;
  for (int i = 0; i < static_cast<int>(statement.reads.size()); ++i) {
    const auto& read = statement.reads[i];
    int along = read.exact ? contiguous_member(scop, cluster, read) : -1;
    if (along < 0 || along == written || !is_long(along)) continue;
    if (polyhedral::stride(scop, read, entry.outer[written]) == 0) continue;
    bool own = polyhedral::touches(statement.write, polyhedral::range_name(read.relation));
    if (!own && !polyhedral::copy_dimensions(statement, i).empty()) return Transposition{i, along, written};
  }
  return std::nullopt;
}

}  // namespace

std::optional<GridClusterMapping> tile_transposition(GridClusterMapping mapping, const Scop& scop,
                                                     const ClusterView& cluster, const GridLimits& limits,
                                                     const polyhedral::MappingOptions& options) {
  if (cluster.statements.size() != 1 || !options.block.empty() || !options.tile.empty() || mapping.shared_bytes == 0)
    return std::nullopt;
  auto found = find_transposition(scop, cluster, limits.warp_size);
  if (!found) return std::nullopt;
  const auto [read, along, written] = *found;
  const auto& entry = cluster.statements[0];
  const auto& s = scop.statement(entry.id);
  auto run_along = options.vectorise ? access_run(scop, s, s.reads[read], entry.outer[along]) : 1;
  auto run = options.vectorise ? access_run(scop, s, s.write, entry.outer[written]) : 1;
  bool large = run > 1 && cluster.members[along].extent() >= 2 * limits.warp_size &&
               cluster.members[written].extent() >= 2 * limits.warp_size;
  auto side = large ? 2 * limits.warp_size : limits.warp_size;
  auto threads = run > 1 ? limits.warp_size / 4 : limits.warp_size;  // so few that a warp writes several rows
  mapping.members.assign(cluster.members.size(), {1, -1, {}});
  mapping.members[written] = {side, -1, {0, std::min(run, side / threads)}};
  mapping.members[along] = {side, -1, {1, 1}};
  mapping.block = {threads, std::min(usual_threads / threads, side), 1};
  mapping.others.vector = run > 1;
  mapping.others.unroll = true;
  mapping.separate = has_partial_tiles(mapping, cluster);
  mapping.copies = {{s.id, read, entry.outer[along], run_along > 1 ? entry.outer[along] : -1, run_along}};
  return mapping;
}

}  // namespace tc::strategy
