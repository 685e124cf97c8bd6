#include "tc/strategy/cpu/choose_outermost.h"

#include <algorithm>

#include "tc/base/contains.h"
#include "tc/strategy/cost/parallel_work.h"

namespace tc::strategy {
namespace {

using polyhedral::ClusterMapping;

bool is_named(const ClusterFacts& facts, int member) {
  int iterator = facts.heaviest.outer[member];
  return iterator >= 0 && contains(facts.options.parallel_along, facts.statement(facts.heaviest).iterators[iterator]);
}

/// The member whose loop threads share; -1 without members.
int parallel_member(const ClusterFacts& facts, const ClusterMapping& mapping) {
  int members = facts.cluster.permutable ? facts.member_count() : std::min(facts.member_count(), 1);
  for (int i = 0; i < members; ++i)
    if (is_named(facts, i)) return i;
  int best = -1;
  double busy = 0;
  for (int i = 0; i < members; ++i) {
    auto trips = facts.trips(i, mapping);
    if (trips >= 4 * facts.target.cores) return i;
    if (auto share = busy_share(trips, facts.target.cores); share > busy) {
      best = i;
      busy = share;
    }
  }
  return best;
}

}  // namespace

ClusterMapping choose_outermost(const ClusterFacts& facts, const ClusterMapping& mapping) {
  if (!facts.options.parallel || facts.work < parallel_cluster) return mapping;
  int member = parallel_member(facts, mapping);
  if (member < 0) return mapping;
  auto trips = facts.trips(member, mapping);
  if (trips < 2) return mapping;
  auto result = mapping;
  result.outermost = member;
  result.parallel = true;
  auto& size = result.members[member];
  auto each = std::max<std::int64_t>(facts.work / trips, 1);
  if (size.block > 0 || each >= parallel_iteration) return result;
  auto group = task_iterations(trips, each, 4);
  if (group > 1) size.block = group * size.points;
  return result;
}

}  // namespace tc::strategy
