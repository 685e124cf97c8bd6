#include "tc/polyhedral/spread/grid_cluster_state.h"

#include <utility>

#include "tc/polyhedral/spread/added_branch.h"

namespace tc::polyhedral {

GridClusterState::GridClusterState(NestSpace of_nest, Nest realised, std::int64_t warp)
    : space(std::move(of_nest)), nest(std::move(realised)), warp_size(warp) {
  for (const auto& step : nest.trunk)
    if (const auto* keep = std::get_if<NestKeep>(&step.what); keep && keep->is_temporary)
      promoted.push_back(keep->tensor);
}

CopyBlocks GridClusterState::blocks(const std::string& reader) const {
  for (const auto& branch : nest.branches)
    for (const auto& loop : branch.loops)
      if (branch.statement == reader && loop.slots > 0)
        return {branch.statement, loop.digit.index.number, loop.digit.step, loop.slots};
  return {};
}

NestBranch GridClusterState::branch(const std::string& id, const std::vector<int>& iterators) const {
  if (const auto number = position(id); number >= 0) return nest.branches.at(static_cast<std::size_t>(number));
  NestAdded flags;
  for (const auto& step : nest.trunk)
    if (const auto* found = std::get_if<NestAdded>(&step.what)) flags = *found;
  for (const auto& branch : added)
    if (branch.statement == id) return added_branch(*this, branch, {.unrolled = flags.unrolled}, iterators);
  return added_branch(*this, {.statement = id}, flags, iterators);
}

}  // namespace tc::polyhedral
