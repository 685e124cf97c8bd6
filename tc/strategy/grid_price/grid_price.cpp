#include "tc/strategy/grid_price/grid_price.h"

#include <algorithm>
#include <cmath>
#include <iomanip>

#include "tc/base/ceil_div.h"
#include "tc/base/contains.h"
#include "tc/base/str.h"
#include "tc/strategy/grid/resident_blocks.h"

namespace tc::strategy {
namespace {

/// Of what the busiest unit does not hide.
constexpr double exposed_share = 0.1;

/// Blocks that run at once and touch the same elements of a tensor, of which blocks along \p grid touch others.
double sharing(const KernelShape& shape, const std::vector<int>& grid, double at_once) {
  double result = 1;
  for (int d = 0; d < 3; ++d) {
    auto along = std::min(static_cast<double>(shape.grid[static_cast<std::size_t>(d)]), std::max(at_once, 1.0));
    if (!contains(grid, d)) result *= along;
    at_once /= along;
  }
  return result;
}

/// Bytes that a kernel moves between memory and the second cache.
double memory_bytes(const PricedCluster& cluster, const BlockCounts& counts, const GridPrice& price) {
  const auto& limits = *cluster.target.grid;
  auto at_once = price.resident * static_cast<double>(limits.multiprocessors);
  auto blocks = static_cast<double>(price.shape.blocks());
  double result = 0;
  for (std::size_t t = 0; t < counts.tensors.size(); ++t) {
    const auto& tensor = counts.tensors[t];
    auto moved = tensor.once * blocks * static_cast<double>(limits.sector_bytes);
    if (moved <= 0) continue;
    auto whole = std::min(cluster.tensors[t].bytes, moved);
    bool stays = whole <= static_cast<double>(limits.l2_bytes);
    result += stays ? whole : std::max(whole, moved / sharing(price.shape, tensor.grid, at_once));
  }
  return result;
}

/// Bytes of elements that a block touches over those of the sectors that its accesses take.
double share_of_sectors(const BlockCounts& counts) {
  double once = 0, all = 0;
  for (const auto& tensor : counts.tensors) once += tensor.once, all += tensor.read + tensor.written;
  return all > 0 ? std::min(once / all, 1.0) : 1;
}

/// Cycles that one thread of a block waits, alone.
double waits(const BlockCounts& counts, const GridRates& rates) {
  return counts.awaited * rates.memory_latency + counts.chain * rates.operation_latency +
         counts.barriers * (rates.barrier + rates.shared_latency);
}

double sum(const GridPrice& price) {
  return price.instructions + price.operations + price.functions + price.rounds + price.l2 + price.latency;
}

double largest(const GridPrice& price) {
  return std::max({price.instructions, price.operations, price.functions, price.rounds, price.l2, price.latency});
}

}  // namespace

GridPrice grid_price(const PricedCluster& cluster, const polyhedral::GridClusterMapping& mapping) {
  const auto& limits = *cluster.target.grid;
  const auto& rates = grid_rates_of(limits);
  GridPrice result;
  result.shape = kernel_shape(cluster, mapping);
  result.counts = block_counts(cluster, mapping, result.shape);
  const auto& counts = result.counts;
  auto registers = std::clamp<std::int64_t>(std::llround(counts.registers), 16, limits.thread_registers);
  auto resident = resident_blocks(limits, result.shape.threads(), counts.shared_bytes, registers);
  auto blocks = result.shape.blocks();
  auto per_multiprocessor = ceil_div(blocks, limits.multiprocessors);
  auto warps = ceil_div(result.shape.threads(), limits.warp_size);
  result.resident = static_cast<double>(std::min(resident, per_multiprocessor));
  result.occupancy = result.resident * static_cast<double>(warps * limits.warp_size) /
                     static_cast<double>(limits.multiprocessor_threads);
  result.waves = static_cast<double>(ceil_div(per_multiprocessor, resident));
  result.hertz = rates.hertz;
  auto busy = static_cast<double>(per_multiprocessor);
  result.instructions = busy * counts.instructions / rates.instructions;
  result.operations = busy * counts.operations / rates.operations;
  result.functions = busy * counts.functions / rates.functions;
  result.rounds = busy * (counts.cache_rounds + counts.shared_rounds) / rates.rounds;
  double once = 0;
  for (const auto& tensor : counts.tensors) once += tensor.once;
  result.l2 = busy * once * static_cast<double>(limits.sector_bytes) / rates.l2_bytes;
  result.latency = result.waves * waits(counts, rates);
  result.sector_share = share_of_sectors(counts);
  result.memory = memory_bytes(cluster, counts, result) / rates.memory_bytes;
  auto cycles = largest(result);
  auto longest = std::max(cycles / rates.hertz, result.memory);
  result.seconds = rates.launch + longest + exposed_share * (sum(result) / rates.hertz + result.memory - longest);
  return result;
}

std::string to_string(const GridPrice& price) {
  TextStream out;
  out << std::setprecision(3);
  auto us = [&](double cycles) { return cycles / price.hertz * 1e6; };
  out << price.seconds * 1e6 << " us: grid " << price.shape.blocks() << " blocks of " << price.shape.threads()
      << " threads, " << price.resident << " at once on a multiprocessor (occupancy " << price.occupancy << "), "
      << price.waves << " waves; memory " << price.memory * 1e6 << ", l2 " << us(price.l2)
      << ", first cache and shared memory " << us(price.rounds) << " (" << price.sector_share
      << " of the sectors differ), instructions " << us(price.instructions) << ", operations " << us(price.operations)
      << ", functions " << us(price.functions) << ", latency " << us(price.latency);
  return out.str();
}

}  // namespace tc::strategy
