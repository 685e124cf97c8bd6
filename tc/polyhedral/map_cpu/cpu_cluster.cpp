#include "tc/polyhedral/map_cpu/cpu_cluster.h"

#include <utility>

#include "tc/polyhedral/nest/branch_points.h"

namespace tc::polyhedral {
namespace {

void add_branch(const NestSpace& space, const NestBranch& branch, int number, ClusterState& state) {
  for (const auto& loop : branch.loops) {
    const int iterator = space.iterator(loop.digit.index, number);
    if (loop.place == NestPlace::Unit) state.dot = {branch.statement, iterator, loop.width, loop.steps};
    if (loop.place == NestPlace::Lanes)
      state.statements.push_back({branch.statement, iterator, loop.lanes, vectors_in_flight(space, branch, loop)});
  }
}

ClusterState state_of(const NestSpace& space, const Nest& nest) {
  ClusterState result{.has_band = !space.members.empty()};
  for (const auto& step : nest.trunk) {
    const auto* loop = std::get_if<NestLoop>(&step.what);
    if (loop && loop->with_private_sums) {
      const auto statement = static_cast<std::size_t>(loop->digit.index.statement);
      result.reduction = {space.statements.at(statement).entry.id, loop->digit.index.number, loop->digit.step};
    }
    if (const auto* keep = std::get_if<NestKeep>(&step.what)) result.temporaries.push_back(keep->tensor);
    if (const auto* lanes = std::get_if<NestCopyLanes>(&step.what))
      result.copies = {"", lanes->member, lanes->lanes, lanes->unrolled ? 2 : 1};
  }
  for (std::size_t b = 0; b < nest.branches.size(); ++b)
    add_branch(space, nest.branches[b], static_cast<int>(b), result);
  return result;
}

}  // namespace

CpuCluster::CpuCluster(ClusterView cluster, NestSpace of_nests, Nest realised, std::int64_t bytes)
    : view(std::move(cluster)),
      space(std::move(of_nests)),
      nest(std::move(realised)),
      state(state_of(space, nest)),
      buffer_bytes(bytes) {}

}  // namespace tc::polyhedral
