#include "tc/strategy/cpu/choose_outermost.h"

#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/base/contains.h"
#include "tc/strategy/cost/parallel_work.h"

namespace tc::strategy {
namespace {

using polyhedral::ClusterMapping;

bool is_named(const ClusterFacts& facts, int member) {
  int iterator = facts.heaviest.outer[member];
  return iterator >= 0 && contains(facts.options.parallel_along, facts.statement(facts.heaviest).iterators[iterator]);
}

/// Another loop, or other blocks, are taken where the price is less by so much: of pairs of measured mappings whose prices
/// differ by 1 to 3 %, a third is not in order (docs/construction.md).
constexpr double least_thread_gain = 0.97;

/// The members whose loops threads may share: those that the user named, if any.
std::vector<int> parallel_members(const ClusterFacts& facts) {
  int members = facts.cluster.permutable ? facts.member_count() : std::min(facts.member_count(), 1);
  std::vector<int> all, named;
  for (int i = 0; i < members; ++i) {
    all.push_back(i);
    if (is_named(facts, i)) named.push_back(i);
  }
  return named.empty() ? all : named;
}

/// \p mapping with threads along \p member, whose tiles are in \p tasks blocks.
ClusterMapping with_threads(const ClusterFacts& facts, const ClusterMapping& mapping, int member, std::int64_t tasks) {
  auto result = mapping;
  result.outermost = member;
  result.parallel = true;
  auto& size = result.members[member];
  auto each = ceil_div(facts.trips(member, mapping), tasks);
  if (size.block == 0 && each > 1) size.block = each * size.points;
  return result;
}

}  // namespace

ClusterMapping choose_outermost(const ClusterFacts& facts, const ClusterMapping& mapping,
                                const PriceOfMapping& seconds) {
  if (!facts.options.parallel || facts.work < parallel_cluster) return mapping;
  std::vector<ClusterMapping> candidates;
  for (int member : parallel_members(facts)) {
    auto trips = facts.trips(member, mapping);
    if (trips < 2) continue;
    std::int64_t cores = facts.target.cores;
    for (auto tasks : {std::min(4 * cores, trips), std::min(cores, trips), trips})
      if (auto next = with_threads(facts, mapping, member, tasks); !contains(candidates, next))
        candidates.push_back(std::move(next));
  }
  return candidates.empty() ? mapping : cheapest(candidates, seconds, least_thread_gain);
}

}  // namespace tc::strategy
