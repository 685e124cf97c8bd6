#include "tc/strategy/grid/one_contraction.h"

#include <algorithm>

#include "tc/base/count_product.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/instances.h"

namespace tc::strategy {
namespace {

/// Results from which on a product fills tiles of accumulators: one of 64 x 64.
constexpr std::int64_t least_results = 64 * 64;

}  // namespace

bool OneContraction::pays(const polyhedral::ClusterView& fused, const polyhedral::ClusterView& earlier,
                          const polyhedral::ClusterView& later) const {
  return contractions(fused) < 2 || contractions(earlier) == 0 || contractions(later) == 0;
}

int OneContraction::contractions(const polyhedral::ClusterView& cluster) const {
  const auto is_one = [&](const polyhedral::ClusterStatement& entry) {
    const auto& statement = scop_.statement(entry.id);
    if (!statement.product || !statement.accumulates || entry.inner.empty()) return false;
    const auto extents = polyhedral::box(statement.domain);
    std::int64_t results = 1;
    for (int iterator : polyhedral::kept_dimensions(statement))
      results = count_product(results, extents[static_cast<std::size_t>(iterator)].extent());
    return results >= least_results && polyhedral::kept_dimensions(statement).size() >= 2;
  };
  return static_cast<int>(std::count_if(cluster.statements.begin(), cluster.statements.end(), is_one));
}

}  // namespace tc::strategy
