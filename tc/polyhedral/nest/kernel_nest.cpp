#include "tc/polyhedral/nest/kernel_nest.h"

#include "tc/polyhedral/nest/idle_loops.h"

namespace tc::polyhedral {

std::vector<NestLoop> thread_loops(const NestBranch& branch, const NestIndex& index) {
  std::vector<NestLoop> result;
  for (const auto& loop : branch.loops)
    if (loop.place == NestPlace::Thread && loop.digit.index == index) result.push_back(loop);
  return result;
}

std::int64_t tile_of(const NestSpace& space, const Nest& nest, int member) {
  const NestIndex index{-1, member};
  auto result = space.extent(index);
  for (const auto& step : nest.trunk)
    if (const auto* loop = std::get_if<NestLoop>(&step.what); loop && loop->digit.index == index)
      result = loop->digit.step;
  return result;
}

const NestBranch& branch_with_threads(const Nest& nest, const NestIndex& index) {
  for (const auto& branch : nest.branches)
    if (!thread_loops(branch, index).empty()) return branch;
  return nest.branches.front();
}

Nest with_grid(const NestSpace& space, const Nest& nest, const std::array<std::int64_t, 3>& grid) {
  auto result = nest;
  for (auto& step : result.trunk) {
    auto* loop = std::get_if<NestLoop>(&step.what);
    if (!loop || loop->place != NestPlace::Grid) continue;
    const auto most = grid[static_cast<std::size_t>(loop->dimension)];
    if (most < values_of(loop->digit, space.extent(loop->digit.index)) && (loop->blocks == 0 || most < loop->blocks))
      loop->blocks = most;
  }
  return result;
}

UnitIterators unit_iterators(const NestSpace& space, const NestBranch& branch, int number) {
  UnitIterators result;
  for (const auto& loop : branch.loops) {
    const auto iterator = space.iterator(loop.digit.index, number);
    if (loop.place == NestPlace::Thread && loop.dimension < 2)
      (loop.dimension == 0 ? result.columns : result.rows) = iterator;
    if (space.is_reduced(loop.digit.index)) result.steps = iterator;
  }
  return result;
}

}  // namespace tc::polyhedral
