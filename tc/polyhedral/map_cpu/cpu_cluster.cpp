#include "tc/polyhedral/map_cpu/cpu_cluster.h"

#include <algorithm>

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

namespace {

/// \p path below \p count more nodes above the node at \p place; as it is where it leads nowhere yet or elsewhere.
void move_path(std::vector<int>& path, const std::vector<int>& place, std::size_t count) {
  if (path.size() < place.size() || !std::equal(place.begin(), place.end(), path.begin())) return;
  path.insert(path.begin() + static_cast<std::ptrdiff_t>(place.size()), count, 0);
}

}  // namespace

ClusterState joined_state(const std::vector<CpuCluster*>& clusters) {
  ClusterState result;
  for (const auto* cluster : clusters) {
    const auto& state = cluster->state;
    result.added.insert(result.added.end(), state.added.begin(), state.added.end());
    result.statements.insert(result.statements.end(), state.statements.begin(), state.statements.end());
    if (result.dot.iterator < 0) result.dot = state.dot;
  }
  return result;
}

void move_below(CpuCluster& cluster, const std::vector<int>& place, std::size_t count) {
  move_path(cluster.view.path, place, count);
  for (auto& path : cluster.places.below) move_path(path, place, count);
  for (auto& path : cluster.copied_once) move_path(path, place, count);
}

}  // namespace tc::polyhedral
