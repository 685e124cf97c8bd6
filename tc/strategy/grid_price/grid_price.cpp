#include "tc/strategy/grid_price/grid_price.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>

#include "tc/base/ceil_div.h"
#include "tc/base/contains.h"
#include "tc/base/str.h"
#include "tc/polyhedral/nest/nest_of_mapping.h"
#include "tc/strategy/grid/resident_blocks.h"
#include "tc/strategy/grid_price/filled_rows.h"

namespace tc::strategy {
namespace {

/// Of what the busiest unit does not hide: of starts of blocks more, as the last ones begin late (H100, stencils by numbers of
/// blocks).
constexpr double exposed_share = 0.1, exposed_starts = 0.35;
/// Of the second cache, what a program's tensors may take together to be found there when it runs.
constexpr double kept_share = 0.5;

/// How often the blocks that run at once come to the same elements of a tensor again: of all blocks, those along dimensions
/// of the grid other than \p grid touch the same, and of these some run at once.
double passes(const KernelShape& shape, const std::vector<int>& grid, double at_once) {
  double result = 1;
  for (int d = 0; d < 3; ++d) {
    auto blocks = static_cast<double>(shape.grid[static_cast<std::size_t>(d)]);
    auto along = std::min(blocks, std::max(at_once, 1.0));
    if (!contains(grid, d)) result *= blocks / along;
    at_once /= along;
  }
  return result;
}

/// Sectors that the blocks that a multiprocessor runs at once ask the second cache for, over those of as many that share
/// nothing: blocks that touch the same elements find them in the first one.
double unshared(const KernelShape& shape, const std::vector<int>& grid, double resident) {
  double different = 1;
  for (int d : grid) different *= static_cast<double>(shape.grid[static_cast<std::size_t>(d)]);
  return std::min(different, resident) / std::max(resident, 1.0);
}

/// Bytes that a kernel moves between memory and the second cache.
double memory_bytes(const PricedCluster& cluster, const BlockCounts& counts, const GridPrice& price) {
  const auto& limits = *cluster.target.grid;
  auto at_once = price.resident * static_cast<double>(limits.multiprocessors);
  auto blocks = static_cast<double>(price.shape.blocks());
  double result = 0, all = 0;
  for (const auto& tensor : cluster.tensors) all += tensor.bytes;
  if (all <= kept_share * static_cast<double>(limits.l2_bytes)) return 0;
  for (std::size_t t = 0; t < counts.tensors.size(); ++t) {
    const auto& tensor = counts.tensors[t];
    auto moved = tensor.once * blocks * static_cast<double>(limits.sector_bytes);
    if (moved <= 0) continue;
    auto whole = std::min(cluster.tensors[t].bytes, moved);
    bool stays = whole <= static_cast<double>(limits.l2_bytes);
    result += stays ? whole : whole * passes(price.shape, tensor.grid, at_once);
  }
  return result;
}

/// Bytes of elements that a block touches over those of the sectors that its accesses take.
double share_of_sectors(const BlockCounts& counts) {
  double once = 0, all = 0;
  for (const auto& tensor : counts.tensors) once += tensor.once, all += tensor.read + tensor.written;
  return all > 0 ? std::min(once / all, 1.0) : 1;
}

/// Does the first cache of a multiprocessor, whose memory it shares with copies, hold what \p resident blocks touch?
bool stays_near(const PricedCluster& cluster, const BlockCounts& counts, double resident) {
  const auto& limits = *cluster.target.grid;
  double sectors = 0;
  for (const auto& tensor : counts.tensors) sectors += tensor.once;
  auto bytes = sectors * static_cast<double>(limits.sector_bytes) + static_cast<double>(counts.shared_bytes);
  return resident * bytes <= static_cast<double>(limits.multiprocessor_shared_bytes);
}

/// Sectors that a block asks the second cache for.
double far_sectors(const BlockCounts& counts, const GridPrice& price) {
  double result = 0;
  for (const auto& tensor : counts.tensors) result += tensor.once * unshared(price.shape, tensor.grid, price.resident);
  return result;
}

/// Cycles until a sector of tensor number \p t is there, on average: new ones come from far, others from the first cache, or the second
/// one where they come \p again in another round and the first has no room for all.
double latency_of(const PricedCluster& cluster, const BlockCounts& counts, int t, bool again, const GridRates& rates) {
  const auto& tensor = counts.tensors[static_cast<std::size_t>(t)];
  auto fits = cluster.tensors[static_cast<std::size_t>(t)].bytes <=
              kept_share * static_cast<double>(cluster.target.grid->l2_bytes);
  auto far = fits ? rates.l2_latency : rates.memory_latency;
  auto near = again ? rates.l2_latency : rates.shared_latency;
  auto new_ones = tensor.read > 0 ? std::min(tensor.once / tensor.read, 1.0) : 1;
  return new_ones * far + (1 - new_ones) * near;
}

/// Cycles that one thread waits for what it reads, some words at a time.
double reading(const PricedCluster& cluster, const BlockCounts& counts, double resident, const GridRates& rates) {
  double result = 0;
  for (const auto& statement : counts.waits) {
    bool again = statement.rounds > 1 && !stays_near(cluster, counts, resident);
    double longest = 0, all = 0;
    for (const auto& read : statement.tensors) {
      auto latency = latency_of(cluster, counts, read.number, again, rates);
      longest = std::max(longest, latency);
      all += latency * read.words / rates.words_under_way;
    }
    result += std::max(longest * statement.rounds, all);
  }
  return result;
}

/// Cycles that a block waits for its copies and computes, \p alone cycles without others beside it, if all blocks of its
/// multiprocessor compute \p busy cycles.
double copying(const polyhedral::Nest& nest, const BlockCounts& counts, double alone, double busy,
               const GridRates& rates) {
  if (counts.copies <= 0) return 0;
  auto ahead = slots_of_copies(nest) - (counts.group_products > 0 ? 2 : 1);
  auto hidden = static_cast<double>(ahead) * busy / counts.copies;
  return alone + rates.copy_latency + counts.copies * std::max(rates.copy_latency - hidden, 0.0);
}

/// Cycles that one thread of a block waits, alone.
double waits(const PricedCluster& cluster, const polyhedral::Nest& nest, const BlockCounts& counts, double alone,
             double resident, const GridRates& rates) {
  return reading(cluster, counts, resident, rates) + copying(nest, counts, alone, resident * alone, rates) +
         counts.chain * rates.operation_latency + counts.exchanges * rates.shared_latency +
         counts.barriers * (rates.barrier + rates.shared_latency);
}

double sum(const GridPrice& price) {
  return price.instructions + price.operations + price.functions + price.units + price.rounds + price.l2 +
         price.latency + price.starts;
}

double largest(const GridPrice& price) {
  return std::max({price.instructions, price.operations, price.functions, price.units, price.rounds, price.l2,
                   price.latency, price.starts});
}

GridPrice price_of(const PricedCluster& cluster, const polyhedral::Nest& nest) {
  const auto& limits = *cluster.target.grid;
  const auto& rates = grid_rates_of(limits);
  GridPrice result;
  result.shape = kernel_shape(cluster, nest);
  result.counts = block_counts(cluster, nest, result.shape);
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
  if (counts.torn_share > 0) busy += (counts.torn_times - 1) * std::max(1.0, counts.torn_share * busy);
  result.instructions = busy * counts.instructions / rates.instructions;
  result.operations = busy * counts.operations / rates.operations;
  result.functions = busy * counts.functions / rates.functions;
  auto units = counts.products / rates.products + counts.group_products / rates.group_products;
  result.units = busy * units;
  result.rounds = busy * (counts.cache_rounds + counts.shared_rounds) / rates.rounds;
  const auto far_bytes = far_sectors(counts, result) * static_cast<double>(limits.sector_bytes);
  result.l2 = busy * far_bytes / rates.l2_bytes;
  result.l2_bytes = static_cast<double>(blocks) * far_bytes;
  result.starts = static_cast<double>(blocks) / rates.blocks * rates.hertz;
  auto alone = std::max({counts.instructions / rates.instructions, counts.operations / rates.operations, units,
                         (counts.cache_rounds + counts.shared_rounds) / rates.rounds});
  result.latency = result.waves * waits(cluster, nest, counts, alone, result.resident, rates);
  result.sector_share = share_of_sectors(counts);
  result.memory_bytes = memory_bytes(cluster, counts, result);
  result.memory = result.memory_bytes / rates.memory_bytes;
  auto cycles = largest(result);
  auto longest = std::max(cycles / rates.hertz, result.memory);
  result.seconds = rates.launch + longest + exposed_share * (sum(result) / rates.hertz + result.memory - longest);
  auto starts = result.starts / rates.hertz;
  if (starts < longest) result.seconds += (exposed_starts - exposed_share) * starts;
  bool fits = counts.copies <= 0 || counts.shared_bytes <= nest.launch->shared_bytes;
  if (!fits) result.seconds = std::numeric_limits<double>::infinity();
  return result;
}

}  // namespace

GridPrice grid_price(const PricedCluster& cluster, const polyhedral::Nest& nest) {
  const auto filled = with_filled_rows(cluster, nest);
  return price_of(filled ? *filled : cluster, nest);
}

GridPrice grid_price(const PricedCluster& cluster, const polyhedral::GridClusterMapping& mapping) {
  return grid_price(cluster, nest_of(cluster.nests, mapping));
}

std::string to_string(const GridPrice& price) {
  TextStream out;
  out << std::setprecision(3);
  auto us = [&](double cycles) { return cycles / price.hertz * 1e6; };
  out << price.seconds * 1e6 << " us: grid " << price.shape.blocks() << " blocks of " << price.shape.threads()
      << " threads, " << price.resident << " at once on a multiprocessor (occupancy " << price.occupancy << "), "
      << price.waves << " waves; memory " << price.memory * 1e6 << " (" << price.memory_bytes / 1e3 << " kB), l2 "
      << us(price.l2) << " (" << price.l2_bytes / 1e3 << " kB)"
      << ", first cache and shared memory " << us(price.rounds) << " (" << price.sector_share
      << " of the sectors differ), instructions " << us(price.instructions) << ", operations " << us(price.operations)
      << ", functions " << us(price.functions);
  if (price.units > 0) out << ", units " << us(price.units);
  out << ", latency " << us(price.latency) << ", starts " << us(price.starts);
  return out.str();
}

}  // namespace tc::strategy
