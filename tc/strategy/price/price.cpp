#include "tc/strategy/price/price.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <numeric>

#include "tc/base/str.h"
#include "tc/polyhedral/nest/nest_of_mapping.h"
#include "tc/strategy/price/core_price.h"
#include "tc/strategy/price/touched_lines.h"

namespace tc::strategy {
namespace {

using polyhedral::ClusterMapping;
using polyhedral::Nest;
using polyhedral::NestCopy;

/// Is what \p copy copies contiguous along an iterator beside the panel's that vectors of the copy run along? Those of rows run along
/// loops of the statement's own.
bool lies_beside_panel(const PricedStatement& statement, const NestCopy& copy) {
  const auto& strides = statement.reads[static_cast<std::size_t>(copy.read)].strides;
  auto is_own = [&](int iterator) {
    return std::any_of(statement.entry.inner.begin(), statement.entry.inner.end(),
                       [&](const auto& loop) { return loop.iterator == iterator; });
  };
  for (int i = 0; i < static_cast<int>(strides.size()); ++i)
    if (i != copy.panel && strides[static_cast<std::size_t>(i)] == 1 && (copy.panel_last || is_own(i))) return true;
  return false;
}

/// Of the lines that \p copy reads one element of after the other, those that others in their set send away until the next element
/// is read.
double share_that_collides(const PricedCluster& cluster, const PricedStatement& statement, const PricedAccess& read,
                           const NestCopy& copy, const std::vector<double>& spans) {
  auto column = std::vector<double>(spans.size(), 1);
  const auto panel = static_cast<std::size_t>(copy.panel);
  column[panel] = std::min(static_cast<double>(copy.size), spans[panel]);
  const auto period = cluster.rates.l1_period, ways = static_cast<double>(cluster.target.l1_bytes) / period;
  return touched_lines(cluster, statement, read, column).share_sent_away(period, ways);
}

/// The cycles of all runs of the copy \p copy: whole vectors, squares of them that are transposed, or single elements on a side
/// where what is copied lies across.
CorePrice copy_price(const PricedCluster& cluster, const NestCopy& copy, const StatementWalk& nest) {
  const auto& statement = cluster.statements[static_cast<std::size_t>(copy.statement)];
  const auto& read = statement.reads[static_cast<std::size_t>(copy.read)];
  const auto place = nest.copies[static_cast<std::size_t>(copy.read)].place;
  const auto spans = nest.spans(statement, place);
  double elements = nest.trips_above(place);
  for (std::size_t i = 0; i < spans.size(); ++i)
    if (read.used[i]) elements *= spans[i];
  const auto lanes = static_cast<double>(std::max(copy.lanes, 1));
  const auto& rates = cluster.rates;
  const auto element = cluster.tensors[static_cast<std::size_t>(read.tensor)].element;
  const auto vector = cluster.share_of_vector(lanes, element);
  const bool along_panel = read.strides[static_cast<std::size_t>(copy.panel)] == 1,
             beside = lies_beside_panel(statement, copy);
  const bool squares = row_of_squares(read, copy) >= 0;
  const auto load = along_panel || beside ? vector : lanes * rates.part,
             store = copy.panel_last || beside ? vector : lanes * rates.part;
  const auto vectors = elements / lanes;
  const auto moved = (load > vector ? load : 0) + (store > vector ? store : 0);
  CorePrice result;
  if (load > vector)
    result.loops = elements * rates.read_collision * share_that_collides(cluster, statement, read, copy, spans);
  result.loads = vectors * load / rates.loads;
  result.stores = vectors * store / rates.stores;
  result.shuffles = vectors * (squares ? vector * std::log2(std::max(lanes, 2.0)) : moved) / rates.shuffles;
  result.instructions = (4 * vectors + result.shuffles) / rates.instructions;
  return result;
}

CorePrice add(CorePrice all, const CorePrice& one) {
  for (auto term : {&CorePrice::operations, &CorePrice::loads, &CorePrice::stores, &CorePrice::shuffles,
                    &CorePrice::instructions, &CorePrice::latency, &CorePrice::loops})
    all.*term += one.*term;
  return all;
}

/// Iterations that one after the other run on the busiest of \p cores: the partial one goes to a core that is free.
double rounds(double tasks, int cores) {
  const auto whole = std::floor(tasks), left = whole - std::floor(whole / cores) * cores;
  return std::floor(whole / cores) + (left > 0 ? 1 : tasks - whole);
}

/// What an iteration of the loop that threads share writes beside what the next one writes: runs of memory, and lines that hold some
/// of both. Threads that are at the same rows at a time take such lines, and those that are foreseen behind a run, from each other:
///
///   threads share columns 0..23 and 24..47     for row: { O[row][0..23] = ... }     each row has a line with both
void add_borders(const PricedCluster& cluster, const NestWalk& walk, Price& price) {
  if (walk.member_on_cores < 0) return;
  for (std::size_t i = 0; i < walk.statements.size(); ++i) {
    const auto& statement = cluster.statements[i];
    if (!walk.changes_on_cores(statement, statement.write)) continue;
    const auto written = touched_lines(cluster, statement, statement.write, walk.statements[i].spans(statement, 1));
    price.borders = std::max(price.borders, written.runs);
    price.torn_lines = std::max(price.torn_lines, written.runs * written.torn);
  }
}

/// Lines of all that \p copy copies.
double lines_of_copy(const PricedCluster& cluster, const NestCopy& copy) {
  const auto& statement = cluster.statements[static_cast<std::size_t>(copy.statement)];
  const auto& read = statement.reads[static_cast<std::size_t>(copy.read)];
  const auto element = cluster.tensors[static_cast<std::size_t>(read.tensor)].element;
  return copied_lines(statement, read, copy, element, statement.extent, statement.extent).bytes / Target::cache_line;
}

/// Where threads take one task after the other, they are no longer at the same rows: the share that still is.
constexpr double later_side_by_side = 0.25;

/// The cycles that what comes from each level takes, and how many of these no bytes come in.
struct FarCycles {
  std::array<double, 3> all{}, waits{};
};
FarCycles far_cycles(const MachineRates& rates, const FarLevels& levels) {
  const std::array<double, 3> rate{rates.l2_bytes, rates.l3_bytes, rates.memory_bytes},
      latency{rates.l2_latency, rates.l3_latency, rates.memory_latency};
  FarCycles result;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const auto& level = levels[i];
    const auto further = i + 1 < levels.size() ? levels[i + 1] : FarBytes{};
    const auto bytes = std::max(level.bytes - further.bytes, 0.0), runs = std::max(level.runs - further.runs, 0.0);
    const auto waited_for = std::max(runs, level.unforeseen);
    const auto waits = latency[i] * waited_for / rates.misses;
    const auto streamed = std::max(0.0, bytes - waited_for * Target::cache_line) / rate[i];
    const auto collisions =
        std::max(level.colliding * rates.read_collision, level.written_colliding * rates.write_collision);
    result.all[i] = std::max(bytes / rate[i], waits + streamed) + collisions + level.walks * rates.page_walk;
    result.waits[i] = result.all[i] - bytes / rate[i];
  }
  return result;
}

/// Cycles that a core waits for runs of lines from memory longer than it looks ahead: once, at most, in each stretch of
/// instructions that it sees at a time.
double stalls_of(const Price& price, const MachineRates& rates) {
  const auto instructions = (price.core.instructions + price.copies.instructions) * rates.instructions;
  const auto stretches = std::max(instructions / rates.window, 1.0);
  const auto waits = std::max(0.0, rates.memory_latency - price.core_cycles / stretches);
  return waits * std::min(price.far[2].runs, stretches);
}

/// The cycles of \p core and \p far beside each other: their norm to the power \p overlap. The longer counts whole, the other less
/// the shorter it is.
double together(double core, double far, double overlap) {
  const auto most = std::max({core, far, 1.0});
  return most * std::pow(std::pow(core / most, overlap) + std::pow(far / most, overlap), 1 / overlap);
}

/// A price without what comes from caches, and what that needs.
struct CoreWork {
  Price price;
  NestWalk nest;
  std::vector<double> cycles;  ///< of each statement

  CoreWork(const PricedCluster& cluster, const Nest& priced) : nest(walk(cluster, priced)) {
    for (std::size_t i = 0; i < cluster.statements.size(); ++i) {
      const auto core = core_price(cluster, nest, static_cast<int>(i));
      price.core = add(price.core, core);
      cycles.push_back(core.cycles(cluster.rates));
      price.core_cycles += cycles.back();
    }
    for (const auto* copy : nest.copies) {
      const auto& reader = nest.statements[static_cast<std::size_t>(copy->statement)];
      const auto cost = copy_price(cluster, *copy, reader);
      price.copies = add(price.copies, cost);
      if (nest.member_on_cores >= 0 && reader.copies[static_cast<std::size_t>(copy->read)].place == 0) {
        ++price.starts;
        price.shared_lines += lines_of_copy(cluster, *copy);
      }
      price.copy_cycles += cost.cycles(cluster.rates);
    }
    price.core_cycles += price.copy_cycles;
    price.tasks = nest.tasks;
    add_borders(cluster, nest, price);
  }
};

void add_far(const PricedCluster& cluster, std::int64_t buffer_bytes, CoreWork& work) {
  auto [far, copied] = far_bytes(cluster, work.nest, work.cycles, static_cast<double>(buffer_bytes));
  work.price.far = far;
  for (std::size_t i = 0; i < far.size(); ++i) far[i] -= copied[i];
  const auto cycles = far_cycles(cluster.rates, far);
  work.price.cycles = cycles.all;
  work.price.waits = cycles.waits;
  const auto reads = far_cycles(cluster.rates, copied).all;
  work.price.copy_waits = std::max(0.0, std::accumulate(reads.begin(), reads.end(), 0.0) - work.price.copy_cycles);
  work.price.stalls = stalls_of(work.price, cluster.rates);
}

/// Cycles in which results of register tiles, too large for the second cache of a core, leave it, and in which their lines come before. All
/// mappings of a cluster have them in common, so that they decide between clusters only.
double result_cycles(const PricedCluster& cluster, const NestWalk& walk) {
  double result = 0;
  for (std::size_t i = 0; i < walk.statements.size(); ++i) {
    const auto& statement = cluster.statements[i];
    const auto& tensor = cluster.tensors[static_cast<std::size_t>(statement.write.tensor)];
    if (!statement.reduces || tensor.own || !walk.kept[static_cast<std::size_t>(statement.write.tensor)]) continue;
    const auto bytes = touched_lines(cluster, statement, statement.write, walk.statements[i].spans(statement, 0)).bytes;
    if (bytes > static_cast<double>(cluster.target.l2_bytes)) result += 2 * bytes / cluster.rates.l3_bytes;
  }
  return result;
}

/// The price of \p cluster on its target, where \p work is that of one strip on one core.
Price of_all_strips(const PricedCluster& cluster, const CoreWork& work) {
  auto price = work.price;
  if (cluster.strips > 1) {
    price *= cluster.strips;
    price.tasks = cluster.tasks;
  }
  price = price.on(cluster.target.cores, cluster.rates);
  price.seconds += result_cycles(cluster, work.nest) / cluster.rates.hertz / price.busy;
  return price;
}

}  // namespace

Price& Price::operator+=(const Price& other) {
  core = add(core, other.core);
  copies = add(copies, other.copies);
  core_cycles += other.core_cycles;
  copy_cycles += other.copy_cycles;
  copy_waits += other.copy_waits;
  stalls += other.stalls;
  for (std::size_t i = 0; i < far.size(); ++i) {
    far[i] += other.far[i];
    cycles[i] += other.cycles[i];
    waits[i] += other.waits[i];
  }
  hertz = std::max(hertz, other.hertz);
  tasks = std::max(tasks, other.tasks);
  starts = std::max(starts, other.starts);
  shared_lines += other.shared_lines;
  borders = std::max(borders, other.borders);
  torn_lines = std::max(torn_lines, other.torn_lines);
  busy = std::max(busy, other.busy);
  threads += other.threads;
  seconds += other.seconds;
  return *this;
}

Price& Price::operator*=(double times) {
  for (auto* part : {&core, &copies})
    for (auto* kind : {&part->operations, &part->loads, &part->stores, &part->shuffles, &part->instructions,
                       &part->latency, &part->loops})
      *kind *= times;
  for (auto* kind : {&core_cycles, &copy_cycles, &copy_waits, &stalls, &shared_lines}) *kind *= times;
  for (std::size_t i = 0; i < far.size(); ++i) {
    far[i] *= times;
    cycles[i] *= times;
    waits[i] *= times;
  }
  return *this;
}

double CorePrice::cycles(const MachineRates& rates) const {
  auto ports = operations + rates.shuffles_as_operations * shuffles;
  auto most = std::max({ports, loads, stores, shuffles, instructions, latency});
  return most + rates.crowded * std::max(0.0, operations + loads + stores + shuffles - most) + loops;
}

Price price(const PricedCluster& cluster, const Nest& nest, std::int64_t buffer_bytes) {
  CoreWork work(cluster, nest);
  add_far(cluster, buffer_bytes, work);
  return of_all_strips(cluster, work);
}

Price price(const PricedCluster& cluster, const ClusterMapping& mapping, std::int64_t buffer_bytes) {
  return price(cluster, nest_of(cluster.nests, mapping), buffer_bytes);
}

double price_up_to(double limit, const PricedCluster& cluster, const ClusterMapping& mapping,
                   std::int64_t buffer_bytes) {
  const auto nest = nest_of(cluster.nests, mapping);
  CoreWork work(cluster, nest);
  const auto least = of_all_strips(cluster, work).seconds;
  if (least >= limit) return least;
  add_far(cluster, buffer_bytes, work);
  return of_all_strips(cluster, work).seconds;
}

Price Price::on(int cores, const MachineRates& rates) const {
  auto result = *this;
  bool shared = cores > 1 && tasks > 1;
  result.busy = shared ? tasks / rounds(tasks, cores) : 1;
  const auto side_by_side = tasks <= cores ? 1 : later_side_by_side * tasks / cores;
  const auto of_others = shared_lines * (cores - 1) / cores;
  result.threads = shared ? rates.start_threads * starts + rates.take_task * tasks / cores +
                                side_by_side * (rates.torn_line * torn_lines + rates.next_line * borders) +
                                rates.foreign_line * of_others
                          : 0;
  auto far_cores = std::min(result.busy, rates.cores_that_fill_memory);
  const auto all_core = (core_cycles + copy_waits + stalls) / result.busy;
  const auto all_far = (cycles[0] + cycles[1]) / result.busy + cycles[2] / far_cores;
  const auto waited = (waits[0] + waits[1]) / result.busy + waits[2] / far_cores;
  const auto hidden = all_far > all_core ? 0 : waited;
  result.hertz = rates.hertz;
  result.seconds = (together(all_core, all_far, rates.overlap) + hidden * rates.exposed + result.threads) / rates.hertz;
  return result;
}

std::string to_string(const Price& price) {
  TextStream out;
  auto us = [&](double cycles) { return cycles / price.hertz * 1e6; };
  const auto& core = price.core;
  out << std::setprecision(3) << price.seconds * 1e6 << " us on " << price.busy << (price.busy > 1 ? " cores" : " core")
      << "; of one core: core " << us(price.core_cycles + price.copy_waits + price.stalls) << " us (operations "
      << us(core.operations) << ", loads " << us(core.loads) << ", stores " << us(core.stores) << ", shuffles "
      << us(core.shuffles) << ", instructions " << us(core.instructions) << ", latency " << us(core.latency)
      << ", loops " << us(core.loops) << ", copies " << us(price.copy_cycles + price.copy_waits) << ", stalls "
      << us(price.stalls) << ")";
  const std::array<const char*, 3> names{"L2", "L3", "memory"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto& level = price.far[i];
    out << ", from " << names[i] << " " << us(price.cycles[i]) << " us (" << level.bytes / 1e3 << " kB, " << level.runs
        << " runs, " << level.colliding + level.written_colliding << " lines collide)";
  }
  if (price.threads > 0) out << ", threads " << us(price.threads) << " us";
  return out.str();
}

}  // namespace tc::strategy
