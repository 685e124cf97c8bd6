#include <algorithm>
#include <set>

#include "tc/polyhedral/nest/grid_mapping_of_nest.h"
#include "tc/polyhedral/nest/idle_loops.h"
#include "tc/polyhedral/nest/nest_beside.h"
#include "tc/polyhedral/nest/nest_of_mapping.h"

namespace tc::polyhedral {
namespace {

class GridMappingOfNest {
 public:
  GridMappingOfNest(const NestSpace& space, const Nest& nest) : space_(space), nest_(nest) {}

  /// The mapping, with the points of a statement below its own loops if \p points_innermost holds its position.
  GridClusterMapping with(const std::set<std::size_t>& points_innermost) const {
    GridClusterMapping result;
    result.block = nest_.launch->block;
    result.shared_bytes = nest_.launch->shared_bytes;
    result.thread_elements = nest_.launch->thread_elements;
    result.blocks_per_multiprocessor = nest_.launch->blocks_per_multiprocessor;
    for (std::size_t m = 0; m < space_.members.size(); ++m) result.members.push_back(member(static_cast<int>(m)));
    for (const auto& step : nest_.trunk) std::visit([&](const auto& what) { add(what, result); }, step.what);
    for (std::size_t b = 0; b < nest_.branches.size(); ++b) {
      auto statement = statement_of(static_cast<int>(b), result);
      statement.tile = points_innermost.count(b) > 0;
      auto like_others = result.others;
      like_others.id = statement.id;
      if (!(statement == like_others)) result.statements.push_back(statement);
    }
    return result;
  }

 private:
  std::int64_t extent(const NestIndex& index) const { return space_.extent(index); }

  /// The loops over \p index in branch number \p branch.
  std::vector<NestLoop> loops_over(const NestIndex& index, const NestBranch& branch) const {
    std::vector<NestLoop> result;
    for (const auto& loop : branch.loops)
      if (loop.digit.index == index) result.push_back(loop);
    return result;
  }

  /// The threads of \p loops over one index in a branch, two of which are on threads where warps have a digit. One that a
  /// unit computes, \p of_unit, has warps even where they are one: \p tile iterations are its.
  static ThreadLoop threads_of(const std::vector<NestLoop>& loops, bool of_unit, std::int64_t tile) {
    ThreadLoop result;
    for (const auto& loop : loops) {
      if (loop.place != NestPlace::Thread) continue;
      const auto& [index, mod, step] = loop.digit;
      if (result.dimension >= 0) result.warps = {result.dimension, result.run, result.count};
      result.dimension = loop.dimension;
      result.run = step;
      result.count = (mod > 0 ? mod : tile) / step;
    }
    if (result.dimension >= 0 && of_unit && !result.has_warps())
      result.warps = {result.dimension == 0 ? 2 : result.dimension, tile, 1};
    if (!result.has_warps()) result.count = 0;
    return result;
  }

  bool has_unit() const {
    return std::any_of(nest_.branches.begin(), nest_.branches.end(),
                       [](const NestBranch& branch) { return !branch.unit.empty(); });
  }

  /// The unit of branch number \p number: rows are along y, columns along x, and what copies are made for is summed over.
  GridUnit unit_of(int number) const {
    const auto& branch = nest_.branches[static_cast<std::size_t>(number)];
    GridUnit result{.name = branch.unit};
    if (result.name.empty()) return result;
    for (const auto& loop : branch.loops) {
      const auto iterator = space_.iterator(loop.digit.index, number);
      if (loop.place == NestPlace::Thread && loop.dimension < 2)
        (loop.dimension == 0 ? result.columns : result.rows) = iterator;
      if (loop.slots > 0) result.steps = iterator;
    }
    return result;
  }

  GridMember member(int number) const {
    const NestIndex index{-1, number};
    GridMember result{.tile = extent(index)};
    for (const auto& step : nest_.trunk)
      if (const auto* loop = std::get_if<NestLoop>(&step.what); loop && loop->digit.index == index) {
        result.tile = loop->digit.step;
        if (loop->place == NestPlace::Grid) result.grid = loop->dimension;
      }
    for (const auto& branch : nest_.branches)
      if (auto threads = threads_of(loops_over(index, branch), has_unit(), result.tile); threads.dimension >= 0)
        result.threads = threads;
    return result;
  }

  void add(const NestLoop& loop, GridClusterMapping& result) const {
    if (loop.place != NestPlace::Grid) return;
    result.grid[static_cast<std::size_t>(loop.dimension)] =
        loop.blocks > 0 ? loop.blocks : values_of(loop.digit, extent(loop.digit.index));
  }
  void add(const NestSharedCopy& copy, GridClusterMapping& result) const {
    const auto& id = space_.statements.at(static_cast<std::size_t>(copy.statement)).entry.id;
    result.copies.push_back({id, copy.read, copy.contiguous, copy.run_along, copy.vector, copy.beside,
                             copy.asynchronous ? GridCopy::Way::Asynchronous : GridCopy::Way::Registers});
  }
  void add(const NestKeep& keep, GridClusterMapping& result) const {
    (keep.is_temporary ? result.promoted : result.staged).push_back(keep.tensor);
  }
  void add(const NestSeparate&, GridClusterMapping& result) const { result.separate = true; }
  void add(const NestAdded& added, GridClusterMapping& result) const {
    result.others.tile = added.points_innermost;
    result.others.vector = added.in_lanes;
    result.others.unroll = added.unrolled;
  }
  void add(const NestCopy&, GridClusterMapping&) const {}
  void add(const NestCopyLanes&, GridClusterMapping&) const {}

  GridStatement statement_of(int number, GridClusterMapping& result) const {
    const auto& branch = nest_.branches[static_cast<std::size_t>(number)];
    GridStatement statement{.id = branch.statement, .unit = unit_of(number)};
    for (const auto& loop : branch.loops) {
      const auto& digit = loop.digit;
      if (loop.place == NestPlace::Unrolled) statement.unroll = true;
      if (loop.place == NestPlace::Lanes) statement.vector = true;
      if (loop.place == NestPlace::Threads) {
        statement.together = true;
        statement.loops.push_back({space_.iterator(digit.index, number), {-1, digit.step}, loop.beside});
      }
      if (loop.place == NestPlace::Thread && digit.index.statement >= 0)
        statement.loops.push_back({digit.index.number, {loop.dimension, digit.step}});
      if (is_block(loop, branch))
        result.blocks = {branch.statement, digit.index.number, digit.step, std::max(loop.slots, 1)};
    }
    return statement;
  }

  /// Does \p loop count blocks of a reduction? Rounds of threads are counted right above the threads.
  bool is_block(const NestLoop& loop, const NestBranch& branch) const {
    if (loop.slots > 0) return true;
    const auto& digit = loop.digit;
    const bool counts = digit.index.statement >= 0 && digit.mod == 0 && digit.step > 1;
    if (!counts || loop.place == NestPlace::Thread || loop.place == NestPlace::Threads) return false;
    const auto loops = loops_over(digit.index, branch);
    if (loops.size() < 2 || loops[1].place != NestPlace::Thread) return true;
    return digit.step != loops[1].digit.step * nest_.launch->block[static_cast<std::size_t>(loops[1].dimension)];
  }

  const NestSpace& space_;
  const Nest& nest_;
};

}  // namespace

GridClusterMapping grid_mapping_of(const Scop& scop, const ClusterView& cluster, const NestNames& names,
                                   const Nest& nest) {
  const auto space = kernel_nest_space(scop, cluster);
  const auto wanted = without_idle_loops(space, nest);
  const GridMappingOfNest maker(space, wanted);
  std::set<std::size_t> all, innermost;
  for (std::size_t b = 0; b < wanted.branches.size(); ++b) all.insert(b);
  const auto outside = nest_of(space, maker.with({})), inside = nest_of(space, maker.with(all));
  const bool usual = maker.with({}).others.tile;
  for (auto b : all) {
    const bool fits = inside.branches[b] == wanted.branches[b];
    if (outside.branches[b] == wanted.branches[b] ? fits && usual : fits) innermost.insert(b);
  }
  auto result = maker.with(innermost);
  if (auto made = nest_of(space, result); made != wanted) fail_beside(wanted, made, names);
  return result;
}

}  // namespace tc::polyhedral
