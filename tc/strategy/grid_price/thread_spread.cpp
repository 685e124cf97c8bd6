#include "tc/strategy/grid_price/thread_spread.h"

#include <algorithm>
#include <utility>

#include "tc/polyhedral/nest/idle_loops.h"

namespace tc::strategy {
namespace {

using polyhedral::Nest;
using polyhedral::NestBranch;
using polyhedral::NestIndex;
using polyhedral::NestLoop;
using polyhedral::NestPlace;

/// How many blocks share \p count iterations of \p loop.
std::int64_t blocks_of(const NestLoop& loop, std::int64_t count) {
  if (loop.place != NestPlace::Grid) return 1;
  return loop.blocks > 0 ? std::min(loop.blocks, count) : count;
}

/// Does \p loop count blocks of a reduction? Rounds of threads stand above the threads of the same index.
bool is_cut(const NestLoop& loop, const std::vector<NestLoop>& branch, const std::array<std::int64_t, 3>& block) {
  if (loop.slots > 0) return true;
  if (loop.digit.index.statement < 0 || loop.digit.mod > 0 || loop.digit.step == 1) return false;
  if (loop.place != NestPlace::Serial && loop.place != NestPlace::Unrolled) return false;
  for (const auto& below : branch)
    if (below.digit.index == loop.digit.index && below.place == NestPlace::Thread)
      return loop.digit.step != below.digit.step * block[static_cast<std::size_t>(below.dimension)];
  return true;
}

/// Are the iterations of \p branch such that compilers unroll them: marked so, or points of a tile below its own loops?
bool is_unrolled(const NestBranch& branch) {
  bool below_own = false;
  for (const auto& loop : branch.loops) {
    const bool is_point = loop.digit.index.statement < 0 && loop.place == NestPlace::Thread;
    if (loop.place == NestPlace::Unrolled || (below_own && is_point)) return true;
    below_own = below_own || (loop.digit.index.statement >= 0 && loop.slots == 0);
  }
  return false;
}

/// Reads how one statement runs from its loops.
class SpreadReader {
 public:
  SpreadReader(const PricedCluster& cluster, const Nest& nest, int number)
      : cluster_(cluster),
        nest_(nest),
        number_(number),
        statement_(cluster.statements[static_cast<std::size_t>(number)]),
        branch_(nest.branches[static_cast<std::size_t>(number)]) {
    for (auto extent : statement_.extent) {
      const auto whole = static_cast<std::int64_t>(extent);
      result_.iterators.push_back({.extent = whole, .tile = whole});
    }
    for (const auto& band : cluster.nests.bands)
      for (const auto& member : band.members) add_ordered_loop(member, member.iterator_of(band, branch_.statement));
  }

  ThreadSpread run() {
    for (const auto& step : nest_.trunk)
      if (const auto* loop = std::get_if<NestLoop>(&step.what)) add_tiles(*loop);
    for (const auto& loop : branch_.loops) add_branch(loop);
    if (!branch_.unit.empty()) add_unit();
    result_.has_loops = !is_unrolled(branch_);
    return std::move(result_);
  }

 private:
  SpreadIterator* iterator_of(const NestIndex& index) {
    const int number = cluster_.nests.iterator(index, number_);
    return number < 0 ? nullptr : &result_.iterators[static_cast<std::size_t>(number)];
  }

  /// The iterations of a loop around several statements that run in order are tiles of a block, as many as run on average.
  void add_ordered_loop(const polyhedral::SharedBand::Member& member, int iterator) {
    if (member.coincident || iterator < 0) return;
    auto& it = result_.iterators[static_cast<std::size_t>(iterator)];
    it.tiles = static_cast<double>(it.extent) * std::exchange(run_share_, 1);
    it.tile = 1;
  }

  void add_tiles(const NestLoop& loop) {
    auto* it = iterator_of(loop.digit.index);
    if (!it) return;
    const auto tiles = polyhedral::values_of(loop.digit, it->extent);
    it->tile = std::min(loop.digit.step, it->extent);
    it->tiles *= static_cast<double>(tiles) / static_cast<double>(blocks_of(loop, tiles));
    if (loop.place == NestPlace::Grid) it->grid = loop.dimension;
  }

  void add_branch(const NestLoop& loop) {
    auto* it = iterator_of(loop.digit.index);
    if (!it) return;
    const auto number = static_cast<int>(it - result_.iterators.data());
    if (loop.place == NestPlace::Thread) add_threads(loop, *it);
    if (loop.place == NestPlace::Lanes) result_.vector = number;
    it->has_copies = loop.slots > 0 && cluster_.nests.ordered_band(number_, number);
    if (!it->has_copies && is_cut(loop, branch_.loops, nest_.launch->block)) it->cut = loop.digit.step;
  }

  /// Spreads \p it over the threads of \p loop, those of a warp where a loop above it is on threads too.
  void add_threads(const NestLoop& loop, SpreadIterator& it) const {
    const auto outer = it;
    it.dimension = loop.dimension;
    it.run = loop.digit.step;
    it.count = nest_.launch->block[static_cast<std::size_t>(loop.dimension)];
    if (outer.dimension < 0) return;
    it.count = loop.digit.mod / loop.digit.step;
    it.warps = {outer.dimension, outer.run, outer.dimension == loop.dimension ? outer.count / it.count : outer.count};
  }

  /// Threads of a warp have rows along y and columns along x; a tile that one warp takes is its own.
  void add_unit() {
    const auto& operand = cluster_.tensors[static_cast<std::size_t>(statement_.reads.front().tensor)];
    result_.unit = matrix_unit(branch_.unit, operand.type);
    for (const auto& loop : branch_.loops) {
      auto* it = loop.place == NestPlace::Thread ? iterator_of(loop.digit.index) : nullptr;
      if (!it) continue;
      if (it->warps.dimension < 0) {
        it->count = (loop.digit.mod > 0 ? loop.digit.mod : it->tile) / it->run;
        it->warps = {it->dimension == 0 ? 2 : it->dimension, it->tile, 1};
      }
      const auto number = static_cast<int>(it - result_.iterators.data());
      if (loop.dimension == 0) result_.columns = number;
      if (loop.dimension == 1) result_.rows = number;
    }
  }

  const PricedCluster& cluster_;
  const Nest& nest_;
  int number_;
  const PricedStatement& statement_;
  const NestBranch& branch_;
  double run_share_ = statement_.run_share;  ///< of the outermost loop that runs in order
  ThreadSpread result_;
};

}  // namespace

std::int64_t SpreadIterator::first(int along, std::int64_t coordinate) const {
  if (warps.dimension < 0) return dimension == along ? coordinate * run : 0;
  auto lane = dimension == along ? coordinate % count * run : 0;
  if (warps.dimension != along) return lane;
  return lane + (dimension == along ? coordinate / count : coordinate) % warps.count * warps.run;
}

double SpreadIterator::in_thread() const {
  auto runs = static_cast<double>(tile) / static_cast<double>(run * count * warps.count);
  return static_cast<double>(run) * std::max(runs, 1.0);
}

double ThreadSpread::rounds(const PricedAccess* access) const {
  double result = 1;
  for (std::size_t i = 0; i < iterators.size(); ++i)
    result *= iterators[i].tiles * (access && !access->used[i] ? 1 : iterators[i].in_thread());
  return result;
}

bool ThreadSpread::moves_along(const PricedAccess& access, int dimension) const {
  for (std::size_t i = 0; i < iterators.size(); ++i)
    if (iterators[i].uses(dimension) && access.used[i]) return true;
  return false;
}

bool ThreadSpread::uses(int dimension) const {
  return std::any_of(iterators.begin(), iterators.end(), [&](const SpreadIterator& it) { return it.uses(dimension); });
}

KernelShape kernel_shape(const PricedCluster& cluster, const Nest& nest) {
  KernelShape result{{1, 1, 1}, nest.launch->block};
  for (const auto& step : nest.trunk)
    if (const auto* loop = std::get_if<NestLoop>(&step.what); loop && loop->place == NestPlace::Grid) {
      const auto extent = static_cast<std::int64_t>(cluster.extent[static_cast<std::size_t>(loop->digit.index.number)]);
      result.grid[static_cast<std::size_t>(loop->dimension)] =
          blocks_of(*loop, polyhedral::values_of(loop->digit, extent));
    }
  return result;
}

ThreadSpread thread_spread(const PricedCluster& cluster, const Nest& nest, int index) {
  return SpreadReader(cluster, nest, index).run();
}

}  // namespace tc::strategy
