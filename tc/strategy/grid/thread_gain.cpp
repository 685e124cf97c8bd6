#include "tc/strategy/grid/thread_gain.h"

#include <algorithm>

#include "tc/base/contains.h"
#include "tc/polyhedral/core/indirect_reads.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/strategy/cost/fixed_order.h"
#include "tc/strategy/grid/block_threads.h"

namespace tc::strategy {
namespace {

using polyhedral::ClusterStatement;
using polyhedral::ClusterView;
using polyhedral::Scop;

/// Instances of a statement, and elements that it writes.
struct Counts {
  double instances = 1, results = 1;
};

Counts counts_of(const polyhedral::Statement& statement) {
  auto box = polyhedral::box(statement.domain);
  Counts result;
  for (const auto& range : box) result.instances *= static_cast<double>(range.extent());
  for (int i : polyhedral::kept_dimensions(statement)) result.results *= static_cast<double>(box[i].extent());
  return result;
}

}  // namespace

std::int64_t extent_of(const Scop& scop, const ClusterStatement& entry, int iterator) {
  return polyhedral::box(scop.statement(entry.id).domain).at(iterator).extent();
}

double thread_gain(const Scop& scop, const ClusterStatement& entry, int iterator) {
  if (iterator < 0) return 0;
  double result = 0;
  const auto& statement = scop.statement(entry.id);
  const auto counts = counts_of(statement);
  for (const auto* access : polyhedral::accesses(statement)) {
    auto stride = polyhedral::known_stride(scop, *access, iterator);
    auto times = statement.accumulates && access == &statement.write ? counts.results : counts.instances;
    if (stride == 1) result += times;
    if (stride != 0 && stride != 1) result -= times / 2;
  }
  return result;
}

std::pair<int, double> best_member(const Scop& scop, const ClusterView& cluster) {
  int best = -1;
  double most = 0;
  for (std::size_t i = 0; i < cluster.members.size(); ++i) {
    if (cluster.members[i].extent() <= 1) continue;
    double total = 0;
    for (const auto& entry : cluster.statements) total += thread_gain(scop, entry, entry.outer[i]);
    if (best >= 0 && total < most) continue;
    best = static_cast<int>(i);
    most = total;
  }
  return {best, most};
}

int best_inner(const Scop& scop, const ClusterStatement& entry, const polyhedral::MappingOptions& options, int but) {
  int best = -1;
  double most = 0;
  const auto& statement = scop.statement(entry.id);
  const auto kept = polyhedral::kept_dimensions(statement);
  bool may_reduce = but < 0 && options.reduce_in_block && statement.accumulates && statement.write.exact &&
                    !has_fixed_order(scop, statement, options);
  for (const auto& loop : entry.inner) {
    if (loop.iterator < 0 || loop.iterator == but || extent_of(scop, entry, loop.iterator) <= 1) continue;
    bool reduced = may_reduce && !loop.shared && !contains(kept, loop.iterator);
    if (!loop.coincident && !reduced) continue;
    double here = thread_gain(scop, entry, loop.iterator);
    if (best >= 0 && here < most) continue;
    best = loop.iterator;
    most = here;
  }
  return best;
}

bool rows_belong_together(const Scop& scop, const ClusterView& cluster, double outer_gain, const GridLimits& limits,
                          const polyhedral::MappingOptions& options) {
  double inner_gain = 0;
  std::int64_t longest = 0, outer = 1;
  for (const auto& entry : cluster.statements) {
    int inner = best_inner(scop, entry, options);
    if (inner < 0) continue;
    inner_gain += thread_gain(scop, entry, inner);
    longest = std::max(longest, extent_of(scop, entry, inner));
  }
  for (const auto& member : cluster.members) outer *= member.extent();
  if (longest >= limits.warp_size && inner_gain > outer_gain) return true;
  return longest > 1 && outer * limits.warp_size < limits.multiprocessors * usual_threads && longest > outer;
}

}  // namespace tc::strategy
