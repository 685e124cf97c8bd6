#include "tc/strategy/cpu/choose_fusion.h"

#include <algorithm>

#include "tc/strategy/cpu/choose_mapping.h"
#include "tc/strategy/price/price.h"

namespace tc::strategy {
namespace {

/// The share of the time of two tiled reductions that they may take as one cluster: products of 512 x 512 whose second
/// factor is read unpacked take up to 1.5 times what the price says.
constexpr double kept_of_two_tiles = 0.8;

bool reduces(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster) {
  return std::any_of(cluster.statements.begin(), cluster.statements.end(),
                     [&](const auto& entry) { return scop.statement(entry.id).accumulates && !entry.inner.empty(); });
}

/// Do points of \p mapping stand in a tile of two dimensions or more, in which what is read serves several of them?
bool has_tile(const polyhedral::ClusterMapping& mapping) {
  return mapping.register_tile && std::count_if(mapping.members.begin(), mapping.members.end(),
                                                [](const auto& member) { return member.points > 1; }) > 1;
}

/// The elements of \p tensor that the reductions of \p cluster write; null without one.
polyhedral::Nullable<isl::set> accumulated(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster,
                                           const std::string& tensor) {
  polyhedral::Nullable<isl::set> result;
  for (const auto& entry : cluster.statements) {
    const auto& statement = scop.statement(entry.id);
    if (!statement.accumulates || polyhedral::range_name(statement.write.relation) != tensor) continue;
    const auto written = statement.write.relation.intersect_domain(statement.domain).range();
    result = result.is_null() ? written : result.unite(written);
  }
  return result;
}

/// Do both clusters accumulate in one tensor, without a common element? One buffer would hold the accumulators of both, and what lies
/// between them.
bool accumulate_apart(const polyhedral::Scop& scop, const polyhedral::ClusterView& a,
                      const polyhedral::ClusterView& b) {
  return std::any_of(a.statements.begin(), a.statements.end(), [&](const auto& entry) {
    const auto& statement = scop.statement(entry.id);
    if (!statement.accumulates) return false;
    const auto tensor = polyhedral::range_name(statement.write.relation);
    const auto first = accumulated(scop, a, tensor), second = accumulated(scop, b, tensor);
    return !second.is_null() && first.is_disjoint(second);
  });
}

}  // namespace

bool ChooseFusion::pays(const polyhedral::ClusterView& fused, const polyhedral::ClusterView& earlier,
                        const polyhedral::ClusterView& later) const {
  if (!reduces(scop_, earlier) || !reduces(scop_, later)) return true;
  if (accumulate_apart(scop_, earlier, later)) return false;
  const auto &first = estimate(earlier), &second = estimate(later);
  const double kept = first.has_tile && second.has_tile ? kept_of_two_tiles : 1;
  return estimate(fused).seconds <= kept * (first.seconds + second.seconds);
}

const ChooseFusion::Estimate& ChooseFusion::estimate(const polyhedral::ClusterView& cluster) const {
  std::vector<std::string> statements;
  for (const auto& entry : cluster.statements) statements.push_back(entry.id);
  auto found = known_.find(statements);
  if (found == known_.end()) found = known_.emplace(statements, computed_estimate(cluster)).first;
  return found->second;
}

ChooseFusion::Estimate ChooseFusion::computed_estimate(const polyhedral::ClusterView& cluster) const {
  auto mapping = choose_cluster_mapping(scop_, cluster, target_, options_);
  const double seconds =
      price(PricedCluster(scop_, cluster, target_), mapping, buffer_bytes(target_, options_)).seconds;
  return {seconds, has_tile(mapping)};
}

}  // namespace tc::strategy
