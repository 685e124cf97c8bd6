#include "tc/strategy/grid_price/thread_spread.h"

#include <algorithm>

#include "tc/base/ceil_div.h"

namespace tc::strategy {
namespace {

using polyhedral::GridClusterMapping;
using polyhedral::GridMember;
using polyhedral::GridStatement;

constexpr std::int64_t any_number = INT64_MAX;

GridMember member_of(const GridClusterMapping& mapping, std::size_t member) {
  return member < mapping.members.size() ? mapping.members[member] : GridMember{.tile = 0};
}

/// The iterators of a statement with tiles and runs; threads are not counted yet.
std::vector<SpreadIterator> spread(const PricedCluster& cluster, const GridClusterMapping& mapping, int index,
                                   const std::array<std::int64_t, 3>& most_blocks) {
  const auto& statement = cluster.statements[static_cast<std::size_t>(index)];
  std::vector<SpreadIterator> result;
  for (auto extent : statement.extent) {
    auto whole = static_cast<std::int64_t>(extent);
    result.push_back({.extent = whole, .tile = whole});
  }
  const auto& outer = statement.entry.outer;
  for (std::size_t m = 0; m < outer.size(); ++m) {
    if (outer[m] < 0) continue;
    auto member = member_of(mapping, m);
    auto& it = result[static_cast<std::size_t>(outer[m])];
    if (member.tile > 0) it.tile = std::min(member.tile, it.extent);
    auto tiles = ceil_div(it.extent, it.tile);
    auto blocks = member.grid < 0 ? 1 : std::min(tiles, most_blocks[static_cast<std::size_t>(member.grid)]);
    it.tiles = static_cast<double>(tiles) / static_cast<double>(blocks);
    it.grid = member.grid;
    it.dimension = member.threads.dimension;
    it.run = member.threads.run;
    it.warps = member.threads.warps;
    if (it.warps.dimension >= 0) it.count = member.threads.count;
  }
  for (const auto& loop : mapping.statement(statement.entry.id).loops) {
    auto& it = result[static_cast<std::size_t>(loop.iterator)];
    it.dimension = loop.threads.dimension;
    it.run = loop.threads.run;
  }
  const auto& blocks = mapping.blocks;
  if (blocks.iterator >= 0 && blocks.statement == statement.entry.id)
    result[static_cast<std::size_t>(blocks.iterator)].cut = blocks.size;
  return result;
}

/// Is \p statement summed over threads of x? All of the block have a sum of their own then.
bool sums_over_threads(const PricedStatement& statement, const std::vector<SpreadIterator>& iterators) {
  for (std::size_t i = 0; i < iterators.size(); ++i)
    if (statement.accumulates && iterators[i].dimension == 0 && !statement.write.used[i]) return true;
  return false;
}

/// Threads along \p dimension that \p iterators have values for.
std::int64_t wanted(const std::vector<SpreadIterator>& iterators, int dimension, bool together) {
  std::int64_t result = 1;
  for (const auto& it : iterators)
    if (it.warps.dimension >= 0) {
      if (it.dimension == dimension) result = std::max(result, it.count);
      if (it.warps.dimension == dimension)
        result = std::max(result, (it.dimension == dimension ? it.count : 1) * it.warps.count);
    } else if (it.dimension == dimension)
      result = together ? result * ceil_div(it.tile, it.run) : std::max(result, ceil_div(it.tile, it.run));
  return result;
}

/// The iterator whose runs stand innermost, that along x if there is one (spread_statement.h); -1: none has runs.
int vector_of(const std::vector<SpreadIterator>& iterators) {
  int result = -1;
  for (std::size_t i = 0; i < iterators.size(); ++i) {
    const bool along_x = result >= 0 && iterators[static_cast<std::size_t>(result)].dimension == 0;
    if (iterators[i].dimension >= 0 && iterators[i].run > 1 && !along_x) result = static_cast<int>(i);
  }
  return result;
}

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

double ThreadSpread::rounds(std::int64_t threads, const PricedAccess* access) const {
  double result = 1, numbers = 1;
  for (std::size_t i = 0; i < iterators.size(); ++i) {
    const auto& it = iterators[i];
    result *= it.tiles;
    if (access && !access->used[i]) continue;
    bool numbered = together && it.dimension >= 0;
    result *= numbered ? static_cast<double>(it.run) : it.in_thread();
    if (numbered) numbers *= static_cast<double>(ceil_div(it.tile, it.run));
  }
  return together ? result * std::max(numbers / static_cast<double>(threads), 1.0) : result;
}

bool ThreadSpread::moves_along(const PricedAccess& access, int dimension) const {
  for (std::size_t i = 0; i < iterators.size(); ++i)
    if (iterators[i].uses(dimension) && access.used[i]) return true;
  return false;
}

bool ThreadSpread::uses(int dimension) const {
  return std::any_of(iterators.begin(), iterators.end(), [&](const SpreadIterator& it) { return it.uses(dimension); });
}

KernelShape kernel_shape(const PricedCluster& cluster, const GridClusterMapping& mapping) {
  KernelShape result;
  for (std::size_t m = 0; m < cluster.extent.size(); ++m) {
    auto member = member_of(mapping, m);
    auto extent = static_cast<std::int64_t>(cluster.extent[m]);
    if (auto d = member.threads.dimension; d >= 0 && !member.threads.has_warps()) {
      auto points = member.tile > 0 ? std::min(member.tile, extent) : extent;
      auto& threads = result.block[static_cast<std::size_t>(d)];
      threads =
          std::max(threads, std::min(mapping.block[static_cast<std::size_t>(d)], ceil_div(points, member.threads.run)));
    }
    if (member.grid < 0 || member.tile <= 0) continue;
    auto& blocks = result.grid[static_cast<std::size_t>(member.grid)];
    blocks = std::min(ceil_div(extent, member.tile), mapping.grid[static_cast<std::size_t>(member.grid)]);
  }
  for (std::size_t s = 0; s < cluster.statements.size(); ++s) {
    auto iterators = spread(cluster, mapping, static_cast<int>(s), {any_number, any_number, any_number});
    auto together = mapping.statement(cluster.statements[s].entry.id).together;
    for (int d = 0; d < 3; ++d) {
      auto most = mapping.block[static_cast<std::size_t>(d)];
      auto& threads = result.block[static_cast<std::size_t>(d)];
      auto count = std::min(most, wanted(iterators, d, together));
      if (d == 0 && sums_over_threads(cluster.statements[s], iterators)) count = most;
      threads = std::max(threads, count);
    }
  }
  return result;
}

ThreadSpread thread_spread(const PricedCluster& cluster, const GridClusterMapping& mapping, int index,
                           const KernelShape& shape) {
  ThreadSpread result{.iterators = spread(cluster, mapping, index, shape.grid)};
  const auto& statement = cluster.statements[static_cast<std::size_t>(index)];
  auto choice = mapping.statement(statement.entry.id);
  result.together = choice.together;
  for (auto& it : result.iterators)
    if (it.dimension >= 0 && it.warps.dimension < 0) it.count = shape.block[static_cast<std::size_t>(it.dimension)];
  if (!choice.unit.name.empty()) {
    const auto& operand = cluster.tensors[static_cast<std::size_t>(statement.reads.front().tensor)];
    result.unit = matrix_unit(choice.unit.name, operand.type);
    result.rows = choice.unit.rows;
    result.columns = choice.unit.columns;
  }
  if (choice.vector) result.vector = vector_of(result.iterators);
  return result;
}

}  // namespace tc::strategy
