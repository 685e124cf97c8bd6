#include "tc/strategy/cpu/cluster_facts.h"

#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/base/contains.h"
#include "tc/base/count_product.h"
#include "tc/polyhedral/core/instances.h"

namespace tc::strategy {
namespace {

using polyhedral::ClusterStatement;

/// Those of \p candidates the user named for lanes; all of them where none is. Never one along which instances take unlike time, and of a sum
/// one after the other iterators of its result alone.
std::vector<int> preferred(const ClusterFacts& facts, const ClusterStatement& entry, std::vector<int> candidates) {
  if (facts.fixed(entry)) std::erase_if(candidates, [&](int i) { return !facts.is_kept(entry, i); });
  std::erase_if(candidates, [&](int i) { return contains(facts.statement(entry).uneven, i); });
  auto named = candidates;
  std::erase_if(named,
                [&](int i) { return !contains(facts.options.vector_along, facts.statement(entry).iterators[i]); });
  return named.empty() ? candidates : named;
}

}  // namespace

ClusterFacts::ClusterFacts(const polyhedral::Scop& the_scop, const polyhedral::ClusterView& the_cluster,
                           const Target& machine, const polyhedral::MappingOptions& the_options)
    : scop(the_scop),
      cluster(the_cluster),
      target(machine),
      options(the_options),
      heaviest(the_cluster.statements.front()) {
  std::int64_t most = -1;
  for (const auto& entry : cluster.statements) {
    auto instances = polyhedral::instance_count(statement(entry).domain);
    work = std::min(work + instances, most_counted);
    const auto weight = instances + (statement(entry).uneven.empty() ? 0 : 1);
    if (weight <= most) continue;
    most = weight;
    heaviest = entry;
  }
}

std::string ClusterFacts::target_of(const ClusterStatement& entry) const {
  return polyhedral::range_name(statement(entry).write.relation);
}

std::int64_t ClusterFacts::extent(int member, const polyhedral::ClusterMapping& mapping) const {
  auto whole = cluster.members[member].extent();
  auto block = mapping.members[member].block;
  return block > 0 ? std::min(block, whole) : whole;
}

std::int64_t ClusterFacts::trips(int member, const polyhedral::ClusterMapping& mapping) const {
  return ceil_div(cluster.members[member].extent(), mapping.members[member].points);
}

bool ClusterFacts::is_reduction(const ClusterStatement& entry) const {
  return polyhedral::reduces_alone(statement(entry), entry);
}

bool ClusterFacts::is_tiled_reduction(const ClusterStatement& entry) const {
  return is_reduction(entry) && std::none_of(entry.inner.begin(), entry.inner.end(),
                                             [](const polyhedral::InnerLoop& loop) { return loop.shared; });
}

bool ClusterFacts::is_reduction_of_step(const ClusterStatement& entry) const {
  return is_reduction(entry) && !is_tiled_reduction(entry) && !statement(entry).loops.empty();
}

bool ClusterFacts::is_kept(const ClusterStatement& entry, int iterator) const {
  return contains(polyhedral::kept_dimensions(statement(entry)), iterator);
}

std::vector<int> ClusterFacts::outer_candidates(const ClusterStatement& entry) const {
  std::vector<int> result;
  for (int iterator : entry.outer)
    if (iterator >= 0) result.push_back(iterator);
  return result;
}

std::vector<int> ClusterFacts::inner_candidates(const ClusterStatement& entry) const {
  std::vector<int> result;
  bool reduction = is_reduction(entry), step = is_reduction_of_step(entry);
  for (const auto& loop : entry.inner) {
    if (loop.iterator < 0) continue;
    bool kept = !statement(entry).accumulates || is_kept(entry, loop.iterator);
    const bool apart = loop.coincident && kept;
    if (reduction ? !loop.shared || (step && apart) : apart) result.push_back(loop.iterator);
  }
  return result;
}

std::optional<FixedOrder> ClusterFacts::fixed(const ClusterStatement& entry) const {
  if (!has_fixed_order(scop, statement(entry), options)) return std::nullopt;
  return fixed_order(scop, statement(entry), target);
}

std::vector<VectorChoice> ClusterFacts::possible_lanes(const ClusterStatement& entry,
                                                       const std::vector<int>& candidates) const {
  if (auto order = fixed(entry); order && order->along_lanes()) return {order->lanes};
  return possible_vectors(scop, statement(entry), preferred(*this, entry, candidates), target);
}

VectorChoice ClusterFacts::best_lanes(const ClusterStatement& entry, const std::vector<int>& candidates) const {
  if (auto order = fixed(entry); order && order->along_lanes()) return order->lanes;
  return best_vector(scop, statement(entry), preferred(*this, entry, candidates), target);
}

int member_of(const ClusterStatement& entry, int iterator) {
  for (std::size_t i = 0; i < entry.outer.size(); ++i)
    if (iterator >= 0 && entry.outer[i] == iterator) return static_cast<int>(i);
  return -1;
}

int lanes_within(int lanes, std::int64_t extent) {
  while (lanes > 1 && lanes / 2 >= extent) lanes /= 2;
  return lanes;
}

}  // namespace tc::strategy
