#include "tc/engine/compile/map_kernels.h"

#include "tc/base/ceil_div.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/engine/compile/body_operations.h"
#include "tc/engine/compile/grid_kernels.h"
#include "tc/engine/compile/quota.h"
#include "tc/engine/compile/scheduling_stages.h"
#include "tc/engine/compile/search_of.h"
#include "tc/polyhedral/core/are_copies.h"
#include "tc/polyhedral/laws/verify.h"
#include "tc/polyhedral/map_grid/check_grid_mapping.h"
#include "tc/polyhedral/map_grid/check_kernel_nest.h"
#include "tc/polyhedral/nest/idle_loops.h"
#include "tc/polyhedral/nest/nest_of_mapping.h"
#include "tc/strategy/construct/cheapest_grid_mapping.h"
#include "tc/strategy/grid/choose_grid_mapping.h"

namespace tc::engine {
namespace {

void gather(CompileState& state, std::size_t index) { gather_clusters(state.launches[index]); }

/// What prices choose takes the place of what rules have chosen, where there are operations enough to look for it.
std::vector<strategy::PricedGridMapping> choose_by_price(CompileState& state, LaunchState& launch) {
  std::vector<strategy::PricedGridMapping> chosen;
  auto left = state.mapping.quota * std::max<std::size_t>(launch.scop->statements.size(), 1);
  within_quota(state, *launch.scop, "map", left, [&] {
    chosen = strategy::cheapest_grid_mapping({*launch.scop, launch.clusters}, state.target, state.mapping,
                                             body_operations(*state.program), search_of(state.construct));
  });
  for (std::size_t i = 0; i < chosen.size(); ++i) launch.grid().mapping->clusters[i] = chosen[i].mapping;
  return chosen;
}

/// The nests of the clusters, with the mapping that was chosen and \p plain.
void take_nests_of(LaunchState& launch, const polyhedral::GridMapping& plain) {
  auto& on = launch.grid();
  on.nests.clear();
  for (std::size_t i = 0; i < launch.clusters.size(); ++i) {
    auto space = polyhedral::kernel_nest_space(*launch.scop, launch.clusters[i]);
    auto nest = polyhedral::nest_of(space, on.mapping->clusters[i]);
    auto fallback = polyhedral::nest_of(space, plain.clusters[i]);
    on.nests.push_back({std::move(space), std::move(nest), std::move(fallback)});
  }
}

void choose(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  auto& on = launch.grid();
  on.mapping.emplace();
  polyhedral::GridMapping plain;
  if (launch.dependences && state.mapping.parallel)
    with_quota(
        state, *launch.scop, "map", "kernels run in one thread", launch.scop->statements.size(),
        [&] {
          polyhedral::ClusteredScop clustered{*launch.scop, launch.clusters};
          on.mapping = strategy::choose_grid_mapping(clustered, *state.target.grid, state.mapping);
          auto simple = state.mapping;
          simple.promote = simple.reduce_in_block = simple.shared = simple.registers = false;
          plain = strategy::choose_grid_mapping(clustered, *state.target.grid, simple);
        },
        [&] { on.mapping.emplace(); });
  bool by_price = state.construct != options::Construction::Rules && state.mapping.nest.empty();
  std::vector<strategy::PricedGridMapping> priced;
  if (by_price && !on.mapping->clusters.empty()) priced = choose_by_price(state, launch);
  on.mapping->clusters.resize(launch.clusters.size());
  plain.clusters.resize(launch.clusters.size());
  take_nests_of(launch, plain);
  for (std::size_t i = 0; i < priced.size(); ++i)
    if (priced[i].nest) on.nests[i].nest = *priced[i].nest;
}

void replace_mapping(CompileState& state, std::size_t index, const std::string& text) {
  auto& launch = state.launches[index];
  auto mapping = polyhedral::parse_grid_mapping(text);
  polyhedral::check_grid_mapping({*launch.scop, launch.clusters}, mapping, *state.target.grid);
  launch.grid().mapping.emplace(std::move(mapping));
  take_nests_of(launch, {std::vector<polyhedral::GridClusterMapping>(launch.clusters.size())});
  launch.has_own_mapping = true;
}

polyhedral::Nest nest_of_cluster(const LaunchState& launch, std::size_t cluster) {
  return launch.grid().nests.at(cluster).nest;
}

/// Takes the nests that \p text has for clusters; the others stay as they were chosen.
void take_nests(CompileState& state, std::size_t index, const std::string& text, NamesOfNest names_of) {
  auto& launch = state.launches[index];
  for (auto& [number, names, nest] : read_nests(state, launch, text, nest_of_cluster, names_of)) {
    auto& nests = launch.grid().nests.at(number);
    polyhedral::check_kernel_nest(*launch.scop, launch.clusters[number], names, nest, *state.target.grid);
    nests.nest = polyhedral::without_idle_loops(nests.space, nest);
    nests.plain = nest_of_one_thread(nests.space);
  }
  launch.has_own_mapping = true;
}

std::string print_choice(const LaunchState& launch) { return polyhedral::to_string(*launch.grid().mapping); }

/// Statements of a kernel that one quota serves: a product and what empties its tiles.
constexpr std::size_t kStatementsOfAQuota = 2;

/// The isl operations that the passes over the kernel \p part may take.
unsigned long quota_of(const CompileState& state, const polyhedral::Scop& part) {
  return state.mapping.quota * ceil_div(std::max<std::size_t>(part.statements.size(), 1), kStatementsOfAQuota);
}

void split(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  auto& on = launch.grid();
  on.parts = polyhedral::kernel_parts({*launch.scop, launch.clusters});
  on.kernels.clear();
  on.phases.reset();
  for (std::size_t i = 0; i < on.parts.size(); ++i) {
    on.kernels.emplace_back();
    on.kernels.back().cluster.emplace(on.parts[i], on.nests[i].space, on.nests[i].nest, state.target.grid->warp_size);
    on.kernels.back().quota = quota_of(state, on.parts[i]);
  }
}

/// The text of an error of stage \p stage that a mapping which was given has caused.
std::string blame(const std::string& stage, const InternalError& error) {
  return str("the mapping that was given is none of this program: stage '", stage, "': ", error.what());
}

/// The passes up to number \p last over \p cluster, from number \p first on.
void run_passes(const LaunchState& launch, polyhedral::GridCluster& cluster, std::size_t first, std::size_t last) {
  const auto& passes = polyhedral::grid_passes();
  for (std::size_t i = first; i <= last; ++i) {
    try {
      passes[i].run(cluster);
    } catch (const InternalError& error) {
      if (!launch.has_own_mapping) throw;
      throw OptionsError(blame(passes[i].name, error));
    }
  }
}

/// Pass number \p pass for all kernels.
void carry_out(CompileState& state, std::size_t index, std::size_t pass) {
  auto& launch = state.launches[index];
  auto& on = launch.grid();
  for (std::size_t i = 0; i < on.kernels.size(); ++i) {
    auto& kernel = on.kernels[i];
    auto within = [&](const char* consequence, auto&& work) {
      if (within_quota(state, *launch.scop, "map", kernel.quota, work)) return true;
      note_exhaustion(state, "map", quota_of(state, on.parts[i]), consequence);
      return false;
    };
    auto anew = [&](const polyhedral::Nest& nest) {
      on.nests[i].nest = nest;
      kernel.quota = quota_of(state, on.parts[i]);
      kernel.cluster.emplace(on.parts[i], on.nests[i].space, nest, state.target.grid->warp_size);
    };
    if (within("a kernel has neither buffers nor register tiles",
               [&] { run_passes(launch, *kernel.cluster, pass, pass); }))
      continue;
    anew(on.nests[i].plain);
    if (within("a kernel runs in one thread", [&] { run_passes(launch, *kernel.cluster, 0, pass); })) continue;
    anew(nest_of_one_thread(on.nests[i].space));
    kernel.quota = 0;
    run_passes(launch, *kernel.cluster, 0, pass);
  }
}

void finish(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  auto& on = launch.grid();
  for (auto& kernel : on.kernels) {
    kernel.kernel = kernel.cluster->kernel();
    kernel.cluster.reset();
  }
  if (launch.has_own_mapping) verify_kernels(state, launch);
  if (state.mapping.cooperative && on.parts.size() > 1) join_phases(state, launch);
}

/// Each dependence between instances of \p part, what a kernel runs before passes add statements: names of these may be
/// those of other kernels.
polyhedral::Dependences within(const polyhedral::Dependences& all, const polyhedral::Scop& part) {
  auto result = all;
  auto own = part.domain();
  for (auto* pairs : {&result.flow, &result.anti, &result.output, &result.validity, &result.coincidence})
    *pairs = pairs->intersect_domain(own).intersect_range(own);
  return result;
}

/// The laws of \p part of \p launch, a program like any other, unless they held for a copy of it; \p source is what it was
/// made of.
void verify_program(const LaunchState& launch, const KernelState& part, const polyhedral::Scop& source) {
  auto& proved = part.proved->program;
  const auto& scop = part.cluster->scop;
  if (proved && polyhedral::are_copies(*proved, scop)) return;
  polyhedral::verify_instances(scop);
  polyhedral::verify_bounds(scop);
  if (launch.dependences) polyhedral::verify_dependences(scop, within(*launch.dependences, source));
  proved.emplace(scop);
}

/// The same of \p kernel, which \p part is or will be and whose threads do not wait for each other yet.
void verify_unsynchronised(const KernelState& part, const polyhedral::GridKernel& kernel) {
  auto& proved = part.proved->unsynchronised;
  if (proved && polyhedral::are_copies(*proved, kernel)) return;
  polyhedral::verify_unsynchronised_kernel(kernel);
  proved.emplace(kernel);
}

/// The laws of the kernels behind a pass.
void verify_pass(const LaunchState& launch, polyhedral::GridLaws laws) {
  const auto& on = launch.grid();
  for (std::size_t i = 0; i < on.kernels.size(); ++i) {
    const auto& part = on.kernels[i];
    if (laws == polyhedral::GridLaws::Statements) {
      verify_program(launch, part, on.parts[i]);
      continue;
    }
    auto kernel = part.cluster->kernel();
    if (laws == polyhedral::GridLaws::Threads) kernel.scop = polyhedral::as_kernel(kernel.scop, *part.cluster->tree);
    laws == polyhedral::GridLaws::Kernel ? verify_whole(part, kernel) : verify_unsynchronised(part, kernel);
  }
}

std::string print_parts(const LaunchState& launch) {
  std::string text;
  for (std::size_t i = 0; i < launch.grid().kernels.size(); ++i)
    text += str("kernel ", i, ":\n", polyhedral::print_block(launch.grid().kernels[i].cluster->scop.schedule));
  return text;
}

std::string print_mapped(const LaunchState& launch) {
  return print_kernels(launch,
                       [](const KernelState& part) { return polyhedral::print_block(part.kernel->scop.schedule); });
}

std::string extents(const std::array<std::int64_t, 3>& sizes) { return str(sizes[0], "x", sizes[1], "x", sizes[2]); }

/// The row of pass number \p i.
LaunchStage pass_stage(std::size_t i) {
  const auto& pass = polyhedral::grid_passes()[i];
  return {pass.name, Phase::Map, [i](CompileState& state, std::size_t index) { carry_out(state, index, i); },
          print_parts,
          [name = pass.name, laws = pass.laws](const CompileState&, const LaunchState& launch) {
            try {
              verify_pass(launch, laws);
            } catch (const InternalError& error) {
              if (!launch.has_own_mapping) throw;
              throw OptionsError(blame(name, error));
            }
          }};
}

}  // namespace

std::string print_kernels(const LaunchState& launch, const std::function<std::string(const KernelState&)>& print) {
  const auto& on = launch.grid();
  std::string text;
  for (std::size_t i = 0; i < on.kernels.size(); ++i) {
    const auto& kernel = *on.kernels[i].kernel;
    text += str("kernel ", i, ": grid ", extents(kernel.grid), ", block ", extents(kernel.block),
                kernel.shared_bytes > 0 ? str(", shared ", kernel.shared_bytes) : "",
                on.phases && on.phases->grid_waits[i] ? ", then the grid waits" : "", "\n", print(on.kernels[i]));
  }
  return text;
}

std::vector<LaunchStage> kernel_stages() {
  std::vector<LaunchStage> stages{
      {"gather_coincident", Phase::Choose, gather, print_schedule, verify_scheduled},
      {"choose", Phase::Choose, choose, print_choice, {}, replace_mapping},
      nest_stage([](const LaunchState& launch) { return print_nests(launch, nest_of_cluster); }, take_nests),
      {"split_kernels", Phase::Map, split, print_parts,
       [](const CompileState&, const LaunchState& launch) { verify_pass(launch, polyhedral::GridLaws::Statements); }},
  };
  for (std::size_t i = 0; i < polyhedral::grid_passes().size(); ++i) stages.push_back(pass_stage(i));
  stages.push_back({"map", Phase::Map, finish, print_mapped, verify_kernels});
  return stages;
}

}  // namespace tc::engine
