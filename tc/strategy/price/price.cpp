#include "tc/strategy/price/price.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <numeric>

#include "tc/base/str.h"
#include "tc/strategy/price/core_price.h"

namespace tc::strategy {
namespace {

using polyhedral::ClusterMapping;
using polyhedral::PackMapping;

/// The share of what is not the busiest that is not hidden behind it.
constexpr double exposed = 0.3;

/// The share of what other ports do that delays the busiest one.
constexpr double crowded = 0.1;

/// The cycles of all runs of the copy \p pack.
CorePrice copy_price(const PricedCluster& cluster, const PackMapping& pack, const StatementNest& nest,
                     const PricedStatement& statement) {
  const auto& read = statement.reads[static_cast<std::size_t>(pack.read)];
  auto place = pack.once ? 0 : pack.below_blocks ? nest.blocks : nest.copies;
  auto spans = nest.spans(statement, place);
  double elements = nest.trips_above(place);
  bool across = pack.panel_last && read.strides[static_cast<std::size_t>(pack.panel)] != 1;
  for (std::size_t i = 0; i < spans.size(); ++i)
    if (read.used[i]) elements *= spans[i];
  auto lanes = static_cast<double>(std::max(pack.lanes, 1));
  auto vectors = elements / lanes;
  const auto& rates = cluster.rates;
  CorePrice result;
  result.loads = vectors / rates.loads;
  result.stores = vectors / rates.stores;
  result.shuffles = across ? vectors * std::log2(std::max(lanes, 2.0)) / rates.shuffles : 0;
  result.instructions = (4 * vectors + result.shuffles) / rates.instructions;
  return result;
}

CorePrice add(CorePrice all, const CorePrice& one) {
  for (auto term : {&CorePrice::operations, &CorePrice::loads, &CorePrice::stores, &CorePrice::shuffles,
                    &CorePrice::instructions, &CorePrice::latency, &CorePrice::loops})
    all.*term += one.*term;
  return all;
}

/// Cores that work on average, where threads share the loop of the outermost member.
double busy_cores(const PricedCluster& cluster, const ClusterMapping& mapping, double tasks) {
  if (!mapping.parallel || mapping.outermost < 0) return 1;
  tasks = std::ceil(tasks);
  return std::max(1.0, tasks / std::ceil(tasks / cluster.target.cores));
}

double tasks_of(const PricedCluster& cluster, const ClusterMapping& mapping) {
  if (mapping.outermost < 0) return 1;
  auto member = static_cast<std::size_t>(mapping.outermost);
  auto size = mapping.members[member];
  auto each = static_cast<double>(size.block > 0 ? size.block : size.points);
  return std::ceil(cluster.extent[member] / each);
}

void add_up(const PricedCluster& cluster, Price& price) {
  const auto& rates = cluster.rates;
  const std::array<double, 3> rate{rates.l2_bytes, rates.l3_bytes, rates.memory_bytes},
      latency{rates.l2_latency, rates.l3_latency, rates.memory_latency};
  auto far = std::min(price.busy, rates.cores_that_fill_memory);
  std::array<double, 4> terms{price.core_cycles / price.busy};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& level = price.far[i];
    auto waits = latency[i] * (level.runs / rates.misses + level.written_runs / rates.store_misses);
    auto streamed = std::max(0.0, level.bytes - (level.runs + level.written_runs) * Target::cache_line) / rate[i];
    price.cycles[i] = std::max({level.bytes / rate[i], waits + streamed, i == 0 ? level.pages * rates.page_miss : 0});
    terms[i + 1] = price.cycles[i] / (i == 2 ? far : price.busy);
  }
  auto most = *std::max_element(terms.begin(), terms.end());
  auto rest = std::accumulate(terms.begin(), terms.end(), -most);
  price.seconds = (most + exposed * rest + price.threads) / rates.hertz;
}

}  // namespace

Price& Price::operator+=(const Price& other) {
  core = add(core, other.core);
  copies = add(copies, other.copies);
  core_cycles += other.core_cycles;
  for (std::size_t i = 0; i < far.size(); ++i) {
    far[i] += other.far[i];
    cycles[i] += other.cycles[i];
  }
  busy = std::max(busy, other.busy);
  threads += other.threads;
  seconds += other.seconds;
  return *this;
}

double CorePrice::cycles() const {
  auto most = std::max({operations, loads, stores, shuffles, instructions, latency});
  return most + crowded * (operations + loads + stores + shuffles - most) + loops;
}

Price price(const PricedCluster& cluster, const ClusterMapping& mapping, std::int64_t buffer_bytes) {
  Price result;
  std::vector<StatementNest> nests;
  for (std::size_t i = 0; i < cluster.statements.size(); ++i) {
    nests.push_back(statement_nest(cluster, mapping, static_cast<int>(i)));
    auto core = core_price(cluster, mapping, static_cast<int>(i), nests.back());
    result.core = add(result.core, core);
    result.core_cycles += core.cycles();
  }
  for (const auto& pack : mapping.packed) {
    auto reader = static_cast<std::size_t>(cluster.position(pack.statement));
    auto copy = copy_price(cluster, pack, nests[reader], cluster.statements[reader]);
    result.copies = add(result.copies, copy);
    result.core_cycles += copy.cycles();
  }
  result.far = far_bytes(cluster, mapping, nests, static_cast<double>(buffer_bytes));
  auto tasks = tasks_of(cluster, mapping);
  result.busy = busy_cores(cluster, mapping, tasks);
  if (mapping.parallel && tasks > 1)
    result.threads = cluster.rates.start_threads + cluster.rates.take_task * tasks / cluster.target.cores;
  add_up(cluster, result);
  return result;
}

std::string to_string(const Price& price) {
  TextStream out;
  out << std::setprecision(3) << price.seconds * 1e6 << " us: ";
  const auto& core = price.core;
  out << "core " << price.core_cycles << " cycles (operations " << core.operations << ", loads " << core.loads
      << ", stores " << core.stores << ", shuffles " << core.shuffles << ", instructions " << core.instructions
      << ", latency " << core.latency << ", loops " << core.loops << ", copies " << price.copies.cycles() << ")";
  const std::array<const char*, 3> names{"l2", "l3", "memory"};
  for (std::size_t i = 0; i < names.size(); ++i)
    out << ", " << names[i] << " " << price.cycles[i] << " cycles (" << price.far[i].bytes << " bytes in "
        << price.far[i].runs << " runs that are read, " << price.far[i].written_runs << " written, "
        << price.far[i].pages << " pages)";
  out << ", " << price.busy << " cores busy, threads " << price.threads << " cycles";
  return out.str();
}

}  // namespace tc::strategy
