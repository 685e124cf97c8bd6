#include "tc/engine/compile/scheduling_stages.h"

#include <algorithm>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/engine/compile/quota.h"
#include "tc/engine/run/run_values.h"
#include "tc/halide_bridge/lower/extract_scop.h"
#include "tc/halide_bridge/lower/program.h"
#include "tc/polyhedral/core/are_copies.h"
#include "tc/polyhedral/core/isl_message.h"
#include "tc/polyhedral/laws/verify.h"
#include "tc/polyhedral/map/drop_unread.h"
#include "tc/polyhedral/map/fuse_in_parts.h"
#include "tc/polyhedral/map/pad_product.h"
#include "tc/polyhedral/map/split_reduction.h"
#include "tc/polyhedral/nest/check_nest.h"
#include "tc/polyhedral/nest/nest_line.h"
#include "tc/polyhedral/nest/nest_text.h"
#include "tc/polyhedral/schedule/gather_coincident.h"
#include "tc/polyhedral/schedule/schedule.h"
#include "tc/strategy/choose_padding.h"
#include "tc/strategy/choose_reduction_parts.h"
#include "tc/strategy/cpu/choose_fused_parts.h"

namespace tc::engine {
namespace {

/// A stride that jumps over a symbolic extent is told by each run.
void set_stride_variables(polyhedral::Tensor& tensor, const halide_bridge::ProgramTensor& declared) {
  const auto rank = declared.box.size();
  for (std::size_t d = 0; d < rank; ++d) {
    bool told = false;
    for (std::size_t inner = d + 1; inner < rank; ++inner) told = told || declared.is_symbolic(inner);
    if (!told) continue;
    tensor.stride_variables.resize(rank);
    tensor.stride_variables[d] = stride_variable(declared.name, d);
  }
}

void extract(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  launch.context = std::make_shared<polyhedral::Context>();
  state.watch(launch.context.get());
  launch.scop.emplace(halide_bridge::extract_scop(*state.program, index, launch.context));
  for (const auto& argument : state.arguments) {
    if (!launch.scop->has_tensor(argument.name)) continue;
    auto& tensor = launch.scop->tensor(argument.name);
    tensor.strides = argument.spec.strides;
    tensor.aligned = argument.aligned;
    set_stride_variables(tensor, state.program->tensor(argument.name));
  }
  for (const auto& check : state.program->launches[index].checks)
    if (launch.scop->has_tensor(check.flag)) launch.scop->tensor(check.flag).live_out = true;
  launch.plain.emplace(*launch.scop);
}

/// Instances of loops in order whose results nothing reads.
void drop(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  with_quota(
      state, *launch.scop, "drop", "elements that nothing reads are computed", launch.scop->statements.size(),
      [&] { launch.scop.emplace(polyhedral::drop_unread(*launch.scop)); }, [] {});
}

/// Products that are computed from padded copies.
void pad(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  with_quota(
      state, *launch.scop, "pad", "products have borders", launch.scop->statements.size(),
      [&] {
        auto chosen = strategy::choose_padding(*launch.scop, state.target, state.mapping);
        for (const auto& padding : chosen) launch.scop.emplace(polyhedral::pad_product(*launch.scop, padding));
      },
      [] {});
}

void depend(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  with_quota(
      state, *launch.scop, "depend", "program order is kept, in one thread", launch.scop->statements.size(),
      [&] { launch.dependences.emplace(polyhedral::compute_dependences(*launch.scop)); }, [] {});
}

void schedule(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  if (!launch.dependences) return;
  with_quota(
      state, *launch.scop, "schedule", "program order is kept", launch.scop->statements.size(),
      [&] {
        auto criterion = state.back_end->fusion_criterion(state, *launch.scop);
        launch.scop->schedule = polyhedral::compute_schedule(*launch.scop, *launch.dependences,
                                                             state.back_end->schedule_options(state), criterion.get());
      },
      [] {});
}

/// Cuts reductions of a launch into parts, before its clusters are mapped: those that run with an earlier cluster so, and
/// those that would leave multiprocessors without work. A schedule that was given stays as it is.
void cut_reductions(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  if (!launch.dependences || launch.has_own_schedule) return;
  with_quota(
      state, *launch.scop, "map", "reductions are not cut into parts", launch.scop->statements.size(),
      [&] {
        const auto options = state.back_end->schedule_options(state);
        auto cut = *launch.scop;
        auto fused = strategy::choose_fused_parts(cut, *launch.dependences, state.target, options);
        for (const auto& parts : fused) cut = polyhedral::fuse_in_parts(cut, parts, options);
        auto chosen = strategy::choose_reduction_parts(cut, state.target, state.mapping);
        if (fused.empty() && chosen.empty()) return;
        for (const auto& parts : chosen) cut = polyhedral::split_reduction(cut, parts, options);
        auto dependences = polyhedral::compute_dependences(cut);
        launch.dependences.emplace(std::move(dependences));
        launch.scop.emplace(std::move(cut));
      },
      [] {});
}

std::string print_accesses(const LaunchState& launch) {
  TextStream out;
  for (const auto& statement : launch.scop->statements) {
    out << statement.id << ": domain " << statement.domain << "\n  writes " << statement.write.relation << "\n";
    for (const auto& read : statement.reads)
      out << "  reads " << read.relation << (read.exact ? "" : " (over-approximated)") << "\n";
  }
  return out.str();
}

std::string print_dependences(const LaunchState& launch) {
  if (!launch.dependences) return "not computed: quota exhausted\n";
  TextStream out;
  out << "flow: " << launch.dependences->flow << "\nanti: " << launch.dependences->anti
      << "\noutput: " << launch.dependences->output << "\n";
  return out.str();
}

/// Throws OptionsError unless the schedule of \p launch, which was given, runs \p instances as its dependences ask.
void check_own_schedule(const LaunchState& launch, const isl::union_set& instances) {
  const auto refuse = [](const std::string& why) {
    throw OptionsError(str("the replacement of stage 'schedule' is no schedule of this program: ", why));
  };
  try {
    const auto given = launch.scop->schedule.domain();
    if (!given.is_equal(instances)) refuse(str("its domain is ", given, ", and should be ", instances));
    if (launch.dependences) polyhedral::verify(*launch.scop, *launch.dependences);
  } catch (const InternalError& error) {
    refuse(error.what());
  } catch (const isl::exception& error) {
    refuse(polyhedral::message_of(error));
  }
}

void replace_schedule(CompileState& state, std::size_t index, const std::string& text) {
  auto& launch = state.launches[index];
  const auto instances = launch.scop->schedule.domain();
  try {
    launch.scop->schedule = isl::schedule(launch.scop->ctx(), text);
    launch.has_own_schedule = true;
  } catch (const isl::exception& error) {
    throw OptionsError(
        str("the replacement of stage 'schedule' is not a schedule tree: ", polyhedral::message_of(error)));
  }
  check_own_schedule(launch, instances);
}

/// The number of the cluster of \p launch that has these statements; nothing without one.
std::optional<std::size_t> cluster_of(const LaunchState& launch, const std::vector<std::string>& statements) {
  for (std::size_t i = 0; i < launch.clusters.size(); ++i) {
    const auto& entries = launch.clusters[i].statements;
    if (std::equal(entries.begin(), entries.end(), statements.begin(), statements.end(),
                   [](const polyhedral::ClusterStatement& entry, const std::string& id) { return entry.id == id; }))
      return i;
  }
  return std::nullopt;
}

/// Throws unless \p nest, of \p section, is for the kind of machine that the target is.
void check_machine(const CompileState& state, const polyhedral::NestSection& section, const polyhedral::Nest& nest) {
  if (nest.launch && !state.target.grid)
    polyhedral::fail_nest(nest.launch->line, launch_text(*nest.launch), "machine",
                          "it is of a kernel for a GPU; this target is a processor");
  if (!nest.launch && state.target.grid)
    polyhedral::fail_nest(section.first_line, section.text.substr(0, section.text.find('\n')), "machine",
                          "this target is a GPU; below this line stands what the kernel is launched with, for example "
                          "'blocks of 256 threads'");
}

}  // namespace

std::vector<LaunchStage> scheduling_stages() {
  return {
      {"extract", Phase::Schedule, extract, print_accesses, verify_scheduled},
      {"drop_unread", Phase::Schedule, drop, print_accesses, verify_scheduled},
      {"pad_product", Phase::Schedule, pad, print_accesses, verify_scheduled},
      {"depend", Phase::Schedule, depend, print_dependences},
      {"schedule", Phase::Schedule, schedule, print_schedule, verify_scheduled, replace_schedule},
      {"cut_reductions", Phase::Choose, cut_reductions, print_schedule, verify_scheduled},
  };
}

void verify_scheduled(const CompileState&, const LaunchState& launch) {
  if (!launch.dependences) return;
  auto& proved = *launch.proved;
  if (proved && polyhedral::are_copies(*proved, *launch.scop)) return;
  try {
    polyhedral::verify(*launch.scop, *launch.dependences);
    proved.emplace(*launch.scop);
  } catch (const InternalError& error) {
    if (!launch.has_own_mapping) throw;
    throw OptionsError(str("the mapping that was given is none of this program: ", error.what()));
  }
}

std::string print_schedule(const LaunchState& launch) { return polyhedral::print_block(launch.scop->schedule); }

std::string print_nests(const LaunchState& launch, const ChosenNest& chosen) {
  std::vector<std::string> nests;
  for (std::size_t i = 0; i < launch.clusters.size(); ++i)
    nests.push_back(to_string(chosen(launch, i), polyhedral::nest_names(*launch.scop, launch.clusters[i])));
  return join(nests, "\n");
}

LaunchStage nest_stage(std::function<std::string(const LaunchState&)> print, TakeNests take) {
  const auto run = [take](CompileState& state, std::size_t index) {
    const auto& options = state.mapping;
    if (options.nest.empty()) return;
    if (options.batch_invariant)
      throw OptionsError(
          "the option batch_invariant fixes the order of sums, which the option nest chooses: leave out one");
    take(state, index, polyhedral::text_of_nest_line(options.nest), polyhedral::positional_nest_names);
  };
  const auto replace = [take](CompileState& state, std::size_t index, const std::string& text) {
    take(state, index, text, polyhedral::nest_names);
  };
  return {"nest", Phase::Choose, run, std::move(print), {}, replace};
}

std::vector<NestOfCluster> read_nests(const CompileState& state, const LaunchState& launch, const std::string& text,
                                      const ChosenNest& chosen, NamesOfNest names_of) {
  std::vector<NestOfCluster> result;
  for (const auto& section : polyhedral::nest_sections(text)) {
    const auto has_it = [&](const LaunchState& each) { return cluster_of(each, section.statements).has_value(); };
    if (std::none_of(state.launches.begin(), state.launches.end(), has_it))
      throw OptionsError(str("line ", section.first_line, " of the nest: no loops hold the statements ",
                             join(section.statements), " together; the nests of this def are\n",
                             print_nests(launch, chosen)));
    const auto number = cluster_of(launch, section.statements);
    if (!number) continue;
    const auto names = names_of(*launch.scop, launch.clusters[*number]);
    const auto nest = polyhedral::parse_nest(section.text, names, section.first_line);
    check_machine(state, section, nest);
    polyhedral::check_nest(*launch.scop, launch.clusters[*number], names, nest);
    result.push_back({*number, names, nest});
  }
  return result;
}

void gather_clusters(LaunchState& launch) {
  auto found = polyhedral::clustered(*launch.scop);
  launch.scop.emplace(std::move(found.scop));
  launch.clusters = std::move(found.clusters);
}

}  // namespace tc::engine
