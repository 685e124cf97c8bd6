#include "tc/strategy/grid_price/nest_spread.h"

#include <algorithm>

#include "tc/base/ceil_div.h"

namespace tc::strategy {
namespace {

using polyhedral::Nest;
using polyhedral::NestIndex;
using polyhedral::NestLoop;
using polyhedral::NestPlace;

/// The iterator of statement number \p statement of \p cluster that \p index is; nothing where it is none.
SpreadIterator* iterator_of(const PricedCluster& cluster, const NestIndex& index, int statement, ThreadSpread& spread) {
  const auto& outer = cluster.statements[static_cast<std::size_t>(statement)].entry.outer;
  const int number = index.statement < 0 ? outer[static_cast<std::size_t>(index.number)] : index.number;
  return number < 0 ? nullptr : &spread.iterators[static_cast<std::size_t>(number)];
}

/// How many blocks share \p count iterations of \p loop.
std::int64_t blocks_of(const NestLoop& loop, std::int64_t count) {
  if (loop.place != NestPlace::Grid) return 1;
  return loop.blocks > 0 ? std::min(loop.blocks, count) : count;
}

/// Spreads \p it over the threads of \p loop, of warps where a loop above it is on threads too.
void add_threads(const NestLoop& loop, const KernelShape& shape, SpreadIterator& it) {
  const auto outer = it;
  it.dimension = loop.dimension;
  it.run = loop.digit.step;
  it.count = shape.block[static_cast<std::size_t>(loop.dimension)];
  if (outer.dimension < 0) return;
  it.count = loop.digit.mod / loop.digit.step;
  it.warps = {outer.dimension, outer.run, outer.dimension == loop.dimension ? outer.count / it.count : outer.count};
}

/// Does \p loop count blocks of a reduction? Rounds of threads stand above the threads of the same index.
bool is_cut(const NestLoop& loop, const std::vector<NestLoop>& branch, const KernelShape& shape) {
  if (loop.slots > 0) return true;
  if (loop.digit.index.statement < 0 || loop.digit.mod > 0 || loop.digit.step == 1) return false;
  if (loop.place != NestPlace::Serial && loop.place != NestPlace::Unrolled) return false;
  for (const auto& below : branch)
    if (below.digit.index == loop.digit.index && below.place == NestPlace::Thread)
      return loop.digit.step != below.digit.step * shape.block[static_cast<std::size_t>(below.dimension)];
  return true;
}

}  // namespace

KernelShape kernel_shape(const PricedCluster& cluster, const Nest& nest) {
  KernelShape result{{1, 1, 1}, nest.launch->block};
  for (const auto& step : nest.trunk)
    if (const auto* loop = std::get_if<NestLoop>(&step.what); loop && loop->place == NestPlace::Grid) {
      const auto extent = static_cast<std::int64_t>(cluster.extent[static_cast<std::size_t>(loop->digit.index.number)]);
      result.grid[static_cast<std::size_t>(loop->dimension)] = blocks_of(*loop, ceil_div(extent, loop->digit.step));
    }
  return result;
}

ThreadSpread thread_spread(const PricedCluster& cluster, const Nest& nest, int index) {
  const auto shape = kernel_shape(cluster, nest);
  ThreadSpread result;
  for (auto extent : cluster.statements[static_cast<std::size_t>(index)].extent) {
    const auto whole = static_cast<std::int64_t>(extent);
    result.iterators.push_back({.extent = whole, .tile = whole});
  }
  for (const auto& step : nest.trunk) {
    const auto* loop = std::get_if<NestLoop>(&step.what);
    auto* it = loop ? iterator_of(cluster, loop->digit.index, index, result) : nullptr;
    if (!it) continue;
    it->tile = std::min(loop->digit.step, it->extent);
    const auto tiles = ceil_div(it->extent, it->tile);
    it->tiles = static_cast<double>(tiles) / static_cast<double>(blocks_of(*loop, tiles));
    if (loop->place == NestPlace::Grid) it->grid = loop->dimension;
  }
  const auto& branch = nest.branches[static_cast<std::size_t>(index)].loops;
  for (const auto& loop : branch) {
    auto* it = iterator_of(cluster, loop.digit.index, index, result);
    if (!it) continue;
    if (loop.place == NestPlace::Thread) add_threads(loop, shape, *it);
    if (loop.place == NestPlace::Lanes) result.vector = static_cast<int>(it - result.iterators.data());
    if (is_cut(loop, branch, shape)) it->cut = loop.digit.step;
    result.together = result.together || loop.place == NestPlace::Threads;
  }
  return result;
}

}  // namespace tc::strategy
