#include "tc/polyhedral/map_cpu/contract_loops.h"

#include <algorithm>

#include "tc/polyhedral/map/contract.h"

namespace tc::polyhedral {

Scop contract_loops(const Scop& scop, const std::vector<CpuCluster*>& clusters) {
  const bool has_loops = std::any_of(scop.statements.begin(), scop.statements.end(),
                                     [](const Statement& statement) { return !statement.loops.empty(); });
  if (!has_loops) return scop;
  const std::vector<int> root = {0};
  auto result = contract(scop, root, root, joined_state(clusters), {}, 0);
  for (auto* cluster : clusters) move_below(*cluster, root, result.tensors.size() - scop.tensors.size());
  return result;
}

}  // namespace tc::polyhedral
