#include "tc/polyhedral/map_grid/grid_cluster_state.h"

namespace tc::polyhedral {

GridStatement GridClusterState::statement(const std::string& id) const {
  for (const auto& candidate : added)
    if (candidate.id == id) return candidate;
  return mapping.statement(id);
}

ThreadLoop GridClusterState::threads(const std::string& id, int iterator) const {
  for (const auto& loop : statement(id).loops)
    if (loop.iterator == iterator) return loop.threads;
  return {};
}

}  // namespace tc::polyhedral
