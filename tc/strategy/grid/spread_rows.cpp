#include "tc/strategy/grid/spread_rows.h"

#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/base/contains.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/strategy/cost/vector_runs.h"
#include "tc/strategy/grid/block_threads.h"
#include "tc/strategy/grid/thread_gain.h"

namespace tc::strategy {
namespace {

using polyhedral::ClusterStatement;
using polyhedral::ClusterView;
using polyhedral::GridClusterMapping;
using polyhedral::GridStatement;
using polyhedral::MappingOptions;
using polyhedral::Scop;

bool reduces(const polyhedral::Statement& statement, int iterator) {
  return statement.accumulates && !contains(polyhedral::kept_dimensions(statement), iterator);
}

/// How many neighbouring iterations of \p iterator a thread may have as a vector, all of them full.
std::int64_t row_run(const Scop& scop, const polyhedral::Statement& statement, int iterator) {
  auto run = vector_run(scop, statement, iterator);
  auto range = polyhedral::box(statement.domain).at(iterator);
  return range.min % run == 0 && range.is_multiple_of(run) ? run : 1;
}

/// The loops of \p entry that are spread, those of x by \p run; \p block grows to what they need.
GridStatement spread_statement(const Scop& scop, const ClusterStatement& entry, std::int64_t run,
                               const GridLimits& limits, const MappingOptions& options,
                               std::array<std::int64_t, 3>& block) {
  GridStatement result{entry.id, {}};
  const auto most = most_threads(limits, options);
  std::int64_t threads = 1;
  for (int dimension = 0, last = -1; dimension < 2; ++dimension) {
    int inner = best_inner(scop, entry, options, last);
    if (inner < 0 || threads >= limits.warp_size * enough_warps) break;
    auto each = dimension == 0 ? run : 1;
    auto room = most / (dimension == 0 ? 1 : std::max(threads, block[0]));
    auto count = threads_for(ceil_div(extent_of(scop, entry, inner), each), dimension, room, limits, options);
    result.loops.push_back({inner, {dimension, each}});
    result.vector = run > 1;
    block[dimension] = std::max(block[dimension], count);
    threads *= count;
    last = inner;
  }
  return result;
}

}  // namespace

GridClusterMapping spread_rows(GridClusterMapping mapping, const Scop& scop, const ClusterView& cluster,
                               const GridLimits& limits, const MappingOptions& options) {
  std::int64_t run = options.vectorise ? widest_access : 1;
  for (const auto& entry : cluster.statements) {
    int inner = best_inner(scop, entry, options);
    if (inner < 0) continue;
    const auto& statement = scop.statement(entry.id);
    if (reduces(statement, inner) && options.block.empty()) mapping.block[0] = limits.warp_size;
    run = std::min(run, row_run(scop, statement, inner));
  }
  for (const auto& entry : cluster.statements) {
    auto spread = spread_statement(scop, entry, run, limits, options, mapping.block);
    if (!spread.loops.empty()) mapping.statements.push_back(spread);
  }
  return mapping;
}

}  // namespace tc::strategy
