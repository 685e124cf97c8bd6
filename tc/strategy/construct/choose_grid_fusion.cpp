#include "tc/strategy/construct/choose_grid_fusion.h"

#include <utility>

#include "tc/strategy/construct/cheapest_grid_mapping.h"
#include "tc/strategy/grid/one_contraction.h"

namespace tc::strategy {

ChooseGridFusion::ChooseGridFusion(const polyhedral::Scop& scop, Target target, polyhedral::MappingOptions options,
                                   OperationsOfBodies bodies)
    : scop_(scop), target_(std::move(target)), options_(std::move(options)), bodies_(std::move(bodies)) {}

bool ChooseGridFusion::pays(const polyhedral::ClusterView& fused, const polyhedral::ClusterView& earlier,
                            const polyhedral::ClusterView& later) const {
  return OneContraction(scop_).pays(fused, earlier, later) && seconds(fused) <= seconds(earlier) + seconds(later);
}

double ChooseGridFusion::seconds(const polyhedral::ClusterView& cluster) const {
  std::vector<std::string> statements;
  for (const auto& entry : cluster.statements) statements.push_back(entry.id);
  auto found = known_.find(statements);
  if (found == known_.end())
    found = known_.emplace(statements, cheapest_grid_cluster(scop_, cluster, target_, options_, bodies_).price.seconds)
                .first;
  return found->second;
}

}  // namespace tc::strategy
