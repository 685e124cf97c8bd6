#include "tc/strategy/cpu/choose_fusion.h"

#include <algorithm>

#include "tc/strategy/cpu/choose_mapping.h"
#include "tc/strategy/price/price.h"

namespace tc::strategy {
namespace {

bool reduces(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster) {
  return std::any_of(cluster.statements.begin(), cluster.statements.end(),
                     [&](const auto& entry) { return scop.statement(entry.id).accumulates && !entry.inner.empty(); });
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
  return seconds(fused) <= seconds(earlier) + seconds(later);
}

double ChooseFusion::seconds(const polyhedral::ClusterView& cluster) const {
  std::vector<std::string> statements;
  for (const auto& entry : cluster.statements) statements.push_back(entry.id);
  const auto [found, is_new] = known_.try_emplace(statements);
  if (is_new)
    found->second = price(PricedCluster(scop_, cluster, target_),
                          choose_cluster_mapping(scop_, cluster, target_, options_), buffer_bytes(target_, options_))
                        .seconds;
  return found->second;
}

}  // namespace tc::strategy
