#include "tc/polyhedral/map/cluster_state.h"

namespace tc::polyhedral {

StatementMapping ClusterState::statement(const std::string& id) const {
  for (const auto* list : {&added, &statements})
    for (const auto& candidate : *list)
      if (candidate.id == id) return candidate;
  return {id};
}

}  // namespace tc::polyhedral
