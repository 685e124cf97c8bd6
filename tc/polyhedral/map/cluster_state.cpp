#include "tc/polyhedral/map/cluster_state.h"

namespace tc::polyhedral {

StatementMapping ClusterState::statement(const std::string& id) const {
  for (const auto& candidate : added)
    if (candidate.id == id) return candidate;
  return mapping.statement(id);
}

}  // namespace tc::polyhedral
