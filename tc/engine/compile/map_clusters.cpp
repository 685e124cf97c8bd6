#include "tc/engine/compile/map_clusters.h"

#include <algorithm>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/engine/compile/body_operations.h"
#include "tc/engine/compile/quota.h"
#include "tc/engine/compile/scheduling_stages.h"
#include "tc/engine/compile/search_of.h"
#include "tc/polyhedral/map_cpu/check_cpu_nest.h"
#include "tc/polyhedral/map_cpu/check_mapping.h"
#include "tc/polyhedral/map_cpu/cpu_passes.h"
#include "tc/polyhedral/map_cpu/ragged_lanes.h"
#include "tc/polyhedral/nest/nest_of_mapping.h"
#include "tc/polyhedral/schedule/collapse.h"
#include "tc/strategy/construct/choose_for_ranges.h"
#include "tc/strategy/construct/construct.h"
#include "tc/strategy/cpu/choose_collapse.h"
#include "tc/strategy/cpu/choose_mapping.h"
#include "tc/strategy/cpu/choose_strips.h"

namespace tc::engine {
namespace {

std::string names_of(const polyhedral::ClusterView& cluster) {
  constexpr std::size_t most = 8;
  std::vector<std::string> names;
  for (const auto& entry : cluster.statements) {
    if (names.size() == most) break;
    names.push_back(entry.id);
  }
  auto count = cluster.statements.size();
  return join(names) + (count > most ? str(" and ", count - most, " more") : "");
}

/// Neighbouring clusters that run strip by strip. A schedule that was given stays as it is.
void fuse_strips(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  if (!launch.dependences || launch.has_own_schedule) return;
  with_quota(
      state, *launch.scop, "map", "clusters do not run in strips", launch.scop->statements.size(),
      [&] {
        const auto chosen = strategy::choose_strips(*launch.scop, *launch.dependences, state.target, state.mapping,
                                                    body_operations(*state.program));
        if (chosen.empty()) return;
        auto fused = polyhedral::fuse_in_strips(polyhedral::clustered(*launch.scop), chosen);
        auto dependences = polyhedral::compute_dependences(fused);
        launch.dependences.emplace(std::move(dependences));
        launch.scop.emplace(std::move(fused));
      },
      [] {});
}

void gather(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  if (!launch.dependences) return;
  with_quota(
      state, *launch.scop, "map", "loops are neither tiled nor parallel nor vectors", launch.scop->statements.size(),
      [&] { gather_clusters(launch); }, [] {});
}

/// Makes one loop of those that are better tiled together.
void collapse(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  if (launch.clusters.empty()) return;
  with_quota(
      state, *launch.scop, "map", "loops are not collapsed", launch.scop->statements.size(),
      [&] {
        polyhedral::ClusteredScop clustered{*launch.scop, launch.clusters};
        auto choices = strategy::choose_collapse(clustered, state.target, state.mapping);
        if (choices.empty()) return;
        auto dependences = *launch.dependences;
        for (const auto& choice : choices) polyhedral::collapse(clustered, dependences, choice);
        launch.scop.emplace(std::move(clustered.scop));
        launch.clusters = std::move(clustered.clusters);
        launch.dependences.emplace(std::move(dependences));
      },
      [] {});
}

/// Leaves cluster number \p i as it is scheduled, for want of operations.
void leave_alone(CompileState& state, LaunchState& launch, std::size_t i) {
  auto& on = launch.cpu();
  note_exhaustion(state, "map", state.mapping.quota,
                  str("the loops of ", names_of(launch.clusters[i]), " are neither tiled nor parallel nor vectors"));
  on.clusters[i].left_alone = true;
  on.mapping->clusters[i] = {};
  on.nests[i] = polyhedral::nest_of(*on.unmapped, launch.clusters[i], on.mapping->clusters[i]);
}

/// The nest of cluster number \p i is \p nest, and its passes begin.
void take_nest(LaunchState& launch, std::size_t i, polyhedral::Nest nest) {
  auto& on = launch.cpu();
  const auto& view = launch.clusters[i];
  on.nests[i] = std::move(nest);
  on.clusters[i].cluster = {view, polyhedral::nest_space(*on.unmapped, view), on.nests[i], on.mapping->buffer_bytes};
}

/// Where the passes begin: the scop and its clusters without nests.
void begin_passes(CompileState& state, LaunchState& launch) {
  auto& on = launch.cpu();
  on.unmapped.emplace(*launch.scop);
  on.nests.assign(launch.clusters.size(), {});
  on.clusters.clear();
  for (const auto& view : launch.clusters)
    on.clusters.push_back({{view, {}, {}, on.mapping->buffer_bytes}, state.mapping.quota});
}

/// The search that the options ask for; nothing where rules decide, as where options name sizes or iterators.
std::optional<strategy::ConstructionSearch> search_for(const CompileState& state) {
  const auto& options = state.mapping;
  bool named = !options.tile.empty() || !options.register_tile.empty() || options.unroll > 0 ||
               options.reduction_block > 0 || !options.parallel_along.empty() || !options.vector_along.empty();
  if (named || !options.nest.empty()) return std::nullopt;
  return search_of(state.construct);
}

/// Sizes within the ranges of the symbolic ones.
std::map<std::string, std::int64_t> sizes_within(const CompileState& state) {
  std::map<std::string, std::int64_t> result;
  for (const auto& [name, range] : state.symbolic) result[name] = strategy::size_within(range.min, range.max);
  return result;
}

polyhedral::ClusterMapping choose_cluster(const CompileState& state, const polyhedral::Scop& scop,
                                          const polyhedral::ClusterView& cluster) {
  auto mapping = state.mapping;
  if (cluster.in_strips()) mapping.parallel = false;
  const auto search = search_for(state);
  const auto bodies = body_operations(*state.program);
  const auto choose = [&](const polyhedral::Scop& in, const polyhedral::ClusterView& view) {
    if (!search) return strategy::choose_cluster_mapping(in, view, state.target, mapping, bodies);
    return strategy::construct_cluster_mapping(in, view, state.target, mapping, *search, bodies, state.nearest);
  };
  const auto within = sizes_within(state);
  if (within.empty() || !search || cluster.in_strips()) return choose(scop, cluster);
  std::map<std::string, std::int64_t> least;
  for (const auto& [name, range] : state.symbolic) least[name] = range.min;
  return strategy::choose_for_ranges(scop, cluster, within, least, state.target,
                                     strategy::buffer_bytes(state.target, mapping), bodies, choose);
}

void choose(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  if (!launch.dependences) return;
  auto& on = launch.cpu();
  on.mapping.emplace();
  on.mapping->buffer_bytes = strategy::buffer_bytes(state.target, state.mapping);
  on.mapping->clusters.resize(launch.clusters.size());
  begin_passes(state, launch);
  for (std::size_t i = 0; i < launch.clusters.size(); ++i) {
    auto& progress = on.clusters[i];
    const auto& view = launch.clusters[i];
    auto& chosen = on.mapping->clusters[i];
    bool done = within_quota(state, *launch.scop, "map", progress.quota, [&] {
      chosen = polyhedral::without_ragged_lanes(*launch.scop, choose_cluster(state, *launch.scop, view));
      take_nest(launch, i, polyhedral::nest_of(*launch.scop, view, chosen));
    });
    if (!done) leave_alone(state, launch, i);
  }
}

void replace_mapping(CompileState& state, std::size_t index, const std::string& text) {
  auto& launch = state.launches[index];
  if (!launch.dependences) throw OptionsError("the replacement of stage 'choose' comes too late: a quota ran out");
  auto mapping = polyhedral::parse_mapping(text);
  polyhedral::check_mapping({*launch.scop, launch.clusters}, mapping);
  launch.cpu().mapping.emplace(std::move(mapping));
  launch.has_own_mapping = true;
  begin_passes(state, launch);
  for (std::size_t i = 0; i < launch.clusters.size(); ++i)
    take_nest(launch, i, polyhedral::nest_of(*launch.scop, launch.clusters[i], launch.cpu().mapping->clusters[i]));
}

std::string print_choice(const LaunchState& launch) {
  return launch.cpu().mapping ? polyhedral::to_string(*launch.cpu().mapping) : std::string();
}

polyhedral::Nest nest_of_cluster(const LaunchState& launch, std::size_t cluster) {
  return launch.cpu().nests.at(cluster);
}

/// The choice as nests; nothing where a quota ran out before.
std::string print_choice_as_nests(const LaunchState& launch) {
  return launch.cpu().mapping ? print_nests(launch, nest_of_cluster) : std::string();
}

/// Takes the nests that \p text has for clusters; the others stay as they were chosen.
void take_nests(CompileState& state, std::size_t index, const std::string& text, NamesOfNest names_of) {
  auto& launch = state.launches[index];
  if (!launch.dependences || !launch.cpu().mapping)
    throw OptionsError("the nests that were given come too late: a quota ran out");
  for (auto& [number, names, nest] : read_nests(state, launch, text, nest_of_cluster, names_of)) {
    polyhedral::check_cpu_nest(*launch.scop, launch.clusters[number], names, nest);
    take_nest(launch, number, std::move(nest));
  }
  launch.has_own_mapping = true;
}

/// One pass for one cluster. What a mapping that was given makes impossible is an OptionsError.
void run_pass(LaunchState& launch, const polyhedral::CpuPass& pass, polyhedral::CpuCluster& cluster) {
  try {
    auto mapped = pass.run(*launch.scop, cluster);
    launch.scop.emplace(std::move(mapped));
  } catch (const InternalError& error) {
    if (!launch.has_own_mapping) throw;
    throw OptionsError(
        str("the mapping that was given is none of this program: stage '", pass.name, "': ", error.what()));
  }
}

/// Runs the end of pass number \p pass, which has been run for all clusters.
void finish_pass(LaunchState& launch, std::size_t pass) {
  const auto finish = polyhedral::cpu_passes()[pass].finish;
  if (!finish) return;
  std::vector<polyhedral::CpuCluster*> clusters;
  for (auto& each : launch.cpu().clusters) clusters.push_back(&each.cluster);
  auto finished = finish(*launch.scop, clusters);
  launch.scop.emplace(std::move(finished));
}

/// Brings the clusters that are not left alone from the beginning to where pass number \p pass has been run for those
/// before \p end.
void redo(LaunchState& launch, std::size_t pass, std::size_t end) {
  auto& on = launch.cpu();
  const auto& passes = polyhedral::cpu_passes();
  launch.scop.emplace(*on.unmapped);
  for (std::size_t i = 0; i < on.clusters.size(); ++i)
    if (!on.clusters[i].left_alone) take_nest(launch, i, on.nests[i]);
  for (std::size_t p = 0; p <= pass; ++p) {
    for (std::size_t i = 0; i < (p < pass ? on.clusters.size() : end); ++i)
      if (!on.clusters[i].left_alone) run_pass(launch, passes[p], on.clusters[i].cluster);
    if (p < pass) finish_pass(launch, p);
  }
}

/// Pass number \p pass for all clusters.
void carry_out(CompileState& state, std::size_t index, std::size_t pass) {
  auto& launch = state.launches[index];
  auto& on = launch.cpu();
  for (std::size_t i = 0; i < on.clusters.size(); ++i) {
    auto& progress = on.clusters[i];
    if (progress.left_alone) continue;
    bool done = within_quota(state, *launch.scop, "map", progress.quota,
                             [&] { run_pass(launch, polyhedral::cpu_passes()[pass], progress.cluster); });
    if (done) continue;
    leave_alone(state, launch, i);
    redo(launch, pass, i);
  }
  if (launch.dependences)
    with_quota(
        state, *launch.scop, "map", "temporaries of strips stay in memory", launch.scop->statements.size(),
        [&] { finish_pass(launch, pass); }, [] {});
}

void finish(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  launch.cpu().clusters.clear();
  launch.cpu().unmapped.reset();
  if (launch.has_own_mapping) verify_scheduled(state, launch);
}

std::string print_mapped(const LaunchState& launch) {
  auto choice = print_choice(launch);
  return (choice.empty() ? choice : choice + "\n") + print_schedule(launch);
}

}  // namespace

std::vector<LaunchStage> cluster_stages() {
  std::vector<LaunchStage> stages{
      {"fuse_in_strips", Phase::Choose, fuse_strips, print_schedule, verify_scheduled},
      {"gather_coincident", Phase::Choose, gather, print_schedule, verify_scheduled},
      {"collapse", Phase::Choose, collapse, print_schedule, verify_scheduled},
      {"choose", Phase::Choose, choose, print_choice, {}, replace_mapping},
      nest_stage(print_choice_as_nests, take_nests),
  };
  const auto& passes = polyhedral::cpu_passes();
  for (std::size_t i = 0; i < passes.size(); ++i)
    stages.push_back({passes[i].name, Phase::Map,
                      [i](CompileState& state, std::size_t index) { carry_out(state, index, i); }, print_schedule,
                      verify_scheduled});
  stages.push_back({"map", Phase::Map, finish, print_mapped, verify_scheduled});
  return stages;
}

}  // namespace tc::engine
