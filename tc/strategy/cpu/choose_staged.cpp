#include "tc/strategy/cpu/choose_staged.h"

#include "tc/base/contains.h"

namespace tc::strategy {

std::vector<std::string> choose_staged(const ClusterFacts& facts, const polyhedral::ClusterMapping& mapping) {
  std::vector<std::string> result;
  for (const auto& entry : facts.cluster.statements) {
    auto lanes = mapping.statement(entry.id);
    if (entry.id == mapping.reduction.statement) continue;
    bool private_lanes = lanes.iterator >= 0 && member_of(entry, lanes.iterator) < 0;
    if (!facts.is_tiled_reduction(entry) || (private_lanes && !mapping.register_tile)) continue;
    if (auto target = facts.target_of(entry); !contains(result, target)) result.push_back(target);
  }
  return result;
}

}  // namespace tc::strategy
