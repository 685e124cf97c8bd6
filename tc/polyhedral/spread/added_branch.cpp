#include "tc/polyhedral/spread/added_branch.h"

#include <algorithm>

#include "tc/polyhedral/nest/branch_points.h"
#include "tc/polyhedral/nest/kernel_nest.h"

namespace tc::polyhedral {
namespace {

/// The loops over one member down to its threads, and the values that one thread has beside each other.
struct MemberLoops {
  std::vector<NestLoop> outer, run;
  int dimension = -1;
};

MemberLoops member_loops(const Nest& nest, int member) {
  MemberLoops result;
  const auto& branch = branch_with_threads(nest, {-1, member});
  for (const auto& loop : branch.loops) {
    if (!(loop.digit.index == NestIndex{-1, member})) continue;
    auto copy = loop;
    const bool on_thread = loop.place == NestPlace::Thread;
    if (!on_thread) copy.place = NestPlace::Serial;
    copy.lanes = 0;
    if (on_thread) {
      result.outer.insert(result.outer.end(), result.run.begin(), result.run.end());
      result.run.clear();
      result.dimension = loop.dimension;
    }
    (on_thread || result.dimension < 0 ? result.outer : result.run).push_back(copy);
  }
  return result;
}

NestLoop own_loop(const NestBranch& own, int iterator) {
  for (const auto& loop : own.loops)
    if (loop.digit.index.number == iterator) return loop;
  return loop_over(NestIndex{0, iterator}, 0, 1);
}

}  // namespace

NestBranch added_branch(const GridClusterState& state, const NestBranch& own, const NestAdded& flags,
                        const std::vector<int>& iterators) {
  if (has_place(own, NestPlace::Threads)) return own;
  std::vector<NestLoop> points, loops;
  std::vector<MemberLoops> members;
  for (std::size_t m = 0; m < state.space.members.size(); ++m) {
    members.push_back(member_loops(state.nest, static_cast<int>(m)));
    points.insert(points.end(), members.back().outer.begin(), members.back().outer.end());
  }
  for (int iterator : iterators) loops.push_back(own_loop(own, iterator));
  NestBranch result{.statement = own.statement, .loops = flags.points_innermost ? loops : points};
  const auto& below = flags.points_innermost ? points : loops;
  result.loops.insert(result.loops.end(), below.begin(), below.end());
  std::stable_partition(members.begin(), members.end(), [](const MemberLoops& one) { return one.dimension > 0; });
  bool has_run = false;
  std::int64_t lanes = 1;
  for (const auto& member : members) {
    result.loops.insert(result.loops.end(), member.run.begin(), member.run.end());
    if (member.run.empty()) continue;
    has_run = true;
    lanes = member.dimension >= 0 ? member.outer.back().digit.step : 1;
  }
  if (flags.in_lanes && has_run) {
    result.loops.back().place = NestPlace::Lanes;
    result.loops.back().lanes = static_cast<int>(lanes);
  }
  for (auto& loop : result.loops)
    if (flags.unrolled && loop.place == NestPlace::Serial) loop.place = NestPlace::Unrolled;
  return result;
}

}  // namespace tc::polyhedral
