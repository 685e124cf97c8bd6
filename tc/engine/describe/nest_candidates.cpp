#include "tc/engine/describe/nest_candidates.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tc/engine/compile/body_operations.h"
#include "tc/engine/compile/pipeline.h"
#include "tc/polyhedral/map_cpu/check_cpu_nest.h"
#include "tc/polyhedral/map_cpu/ragged_lanes.h"
#include "tc/polyhedral/map_grid/check_kernel_nest.h"
#include "tc/polyhedral/nest/nest_line.h"
#include "tc/polyhedral/nest/nest_of_mapping.h"
#include "tc/polyhedral/nest/nest_text.h"
#include "tc/strategy/construct/cheapest_grid_mapping.h"
#include "tc/strategy/construct/construct.h"
#include "tc/strategy/construct/kernel_moves.h"
#include "tc/strategy/construct/nest_moves.h"
#include "tc/strategy/cpu/choose_mapping.h"

namespace tc::engine {
namespace {

/// A nest of one cluster as text, and its price. Terms are in seconds.
struct PricedNest {
  std::string text;
  double seconds = 0;
  std::vector<double> terms;
};

PricedNest priced(std::string text, const strategy::Price& price) {
  PricedNest result{std::move(text), price.seconds, {}};
  const auto& core = price.core;
  for (auto cycles : {core.operations, core.loads, core.stores, core.shuffles, core.instructions, core.latency,
                      core.loops, price.copy_cycles + price.copy_waits, price.stalls, price.cycles[0], price.cycles[1],
                      price.cycles[2], price.threads * price.busy})
    result.terms.push_back(cycles / price.hertz / price.busy);
  return result;
}

PricedNest priced(std::string text, const strategy::GridPrice& price) {
  PricedNest result{std::move(text), price.seconds, {}};
  for (auto cycles : {price.instructions, price.operations, price.functions, price.units, price.rounds, price.l2,
                      price.latency, price.starts})
    result.terms.push_back(cycles / price.hertz);
  result.terms.push_back(price.memory);
  return result;
}

/// The nests of one cluster: the chosen one first, then the cheapest others.
class ClusterNests {
 public:
  ClusterNests(const CompileState& state, const LaunchState& launch, std::size_t number, std::size_t count)
      : state_(state),
        scop_(*launch.scop),
        cluster_(launch.clusters[number]),
        names_(polyhedral::positional_nest_names(scop_, cluster_)),
        bodies_(body_operations(*state.program)) {
    if (const auto* on = std::get_if<CpuLaunch>(&launch.on))
      add_of_processor(*on, number, count);
    else
      add_of_grid(launch.grid().nests.at(number).nest, count);
  }

  std::vector<PricedNest> take() { return std::move(result_); }

 private:
  template <typename Price>
  void add(const polyhedral::Nest& nest, const Price& price) {
    auto text = polyhedral::to_string(nest, names_);
    const auto is_it = [&](const PricedNest& known) { return known.text == text; };
    if (std::none_of(result_.begin(), result_.end(), is_it)) result_.push_back(priced(std::move(text), price));
  }

  void add_of_processor(const CpuLaunch& on, std::size_t number, std::size_t count) {
    const auto& chosen = on.mapping->clusters[number];
    const auto bytes = on.mapping->buffer_bytes;
    auto options = state_.mapping;
    if (cluster_.in_strips()) options.parallel = false;
    const strategy::MappingSpace space(scop_, cluster_, state_.target, options, bodies_);
    add(on.nests[number], price(space.prices, on.nests[number], bytes));
    std::vector<strategy::MappingState> starts{state_of(space, chosen)};
    std::erase_if(starts, [&](const auto& start) { return !is_possible(space, start); });
    for (const auto& found : cheapest_mappings(space, bytes, starts, count))
      if (polyhedral::without_ragged_lanes(scop_, found.mapping) == found.mapping)
        add(nest_of(space.prices.nests, found.mapping), found.price);
    add_beside(space.prices, on.nests[number], bytes, count / 4);
  }

  /// The nest that moves of nests lead to from \p nest, and the nests beside it, \p count of them: loops in other orders and on
  /// more levels than mappings have.
  void add_beside(const strategy::PricedCluster& prices, const polyhedral::Nest& nest, std::int64_t bytes,
                  std::size_t count) {
    const auto best = strategy::descend(prices, nest, bytes);
    std::vector<strategy::PricedNest> found{best};
    for (auto& beside : strategy::nests_beside(prices.nests, best.nest)) {
      const auto price = strategy::price(prices, beside, bytes);
      found.push_back({std::move(beside), price});
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.price.seconds < b.price.seconds; });
    if (found.size() > count) found.resize(count);
    for (const auto& each : found)
      if (polyhedral::is_realisable(scop_, cluster_, each.nest)) add(each.nest, each.price);
  }

  void add_of_grid(const polyhedral::Nest& chosen, std::size_t count) {
    const strategy::PricedCluster prices(scop_, cluster_, state_.target, bodies_);
    add(chosen, grid_price(prices, chosen));
    for (const auto& found :
         strategy::cheapest_grid_candidates(scop_, cluster_, state_.target, state_.mapping, bodies_, count))
      add(nest_of(prices.nests, found.mapping), found.price);
    add_beside_kernel(prices, chosen, count / 4);
  }

  /// The same for a kernel: tiles, threads, runs and steps that no mapping was tried with.
  void add_beside_kernel(const strategy::PricedCluster& prices, const polyhedral::Nest& nest, std::size_t count) {
    const auto is_allowed = [&](const polyhedral::Nest& each) {
      return polyhedral::is_realisable_kernel(scop_, cluster_, each, *state_.target.grid);
    };
    const auto best = strategy::descend_kernel(prices, nest, is_allowed);
    std::vector<strategy::PricedKernel> found{best};
    for (auto& beside : strategy::kernels_beside(prices.nests, best.nest)) {
      const auto price = grid_price(prices, beside);
      if (std::isfinite(price.seconds)) found.push_back({std::move(beside), price});
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.price.seconds < b.price.seconds; });
    if (found.size() > count) found.resize(count);
    for (const auto& each : found)
      if (is_allowed(each.nest)) add(each.nest, each.price);
  }

  const CompileState& state_;
  const polyhedral::Scop& scop_;
  const polyhedral::ClusterView& cluster_;
  polyhedral::NestNames names_;
  strategy::OperationsOfBodies bodies_;
  std::vector<PricedNest> result_;
};

/// Is there a choice for all clusters of \p launch?
bool is_mapped(const LaunchState& launch) {
  if (!launch.scop || launch.clusters.empty()) return false;
  const auto* on = std::get_if<CpuLaunch>(&launch.on);
  return on ? on->mapping.has_value() : launch.grid().mapping.has_value();
}

/// The chosen nests, with number \p which of cluster \p changed instead of its own.
NestCandidate candidate(const std::vector<std::vector<PricedNest>>& clusters, std::size_t changed, std::size_t which,
                        const options::MappingOptions& options) {
  NestCandidate result;
  std::string text;
  for (std::size_t c = 0; c < clusters.size(); ++c) {
    const auto& nest = clusters[c][c == changed ? which : 0];
    text += nest.text + "\n";
    result.seconds += nest.seconds;
    result.terms.resize(nest.terms.size());
    for (std::size_t t = 0; t < nest.terms.size(); ++t) result.terms[t] += nest.terms[t];
  }
  for (auto& term : result.terms) term /= result.seconds;
  result.options = options.with_nest(polyhedral::nest_line(text));
  return result;
}

}  // namespace

std::vector<NestCandidate> nest_candidates(const std::shared_ptr<const Function>& function,
                                           const std::vector<Argument>& arguments, const CompileOptions& options,
                                           std::size_t count) {
  auto how = options;
  how.stages.verify = how.stages.keep_text = false;
  how.stages.dump_directory.clear();
  auto clusters = std::make_shared<std::vector<std::vector<PricedNest>>>();
  map_launches(
      function, arguments, how,
      [clusters, count](CompileState& state) {
        for (const auto& launch : state.launches)
          for (std::size_t c = 0; is_mapped(launch) && c < launch.clusters.size(); ++c)
            clusters->push_back(ClusterNests(state, launch, c, count).take());
      },
      Phase::Choose);
  std::vector<NestCandidate> result;
  if (clusters->empty()) return result;
  result.push_back(candidate(*clusters, 0, 0, options.mapping));
  for (std::size_t c = 0; c < clusters->size(); ++c)
    for (std::size_t which = 1; which < (*clusters)[c].size(); ++which)
      result.push_back(candidate(*clusters, c, which, options.mapping));
  std::stable_sort(result.begin() + 1, result.end(),
                   [](const NestCandidate& a, const NestCandidate& b) { return a.seconds < b.seconds; });
  return result;
}

}  // namespace tc::engine
