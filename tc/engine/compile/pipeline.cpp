#include "tc/engine/compile/pipeline.h"

#include <algorithm>
#include <sstream>

#include "tc/base/str.h"
#include "tc/engine/compile/back_end.h"
#include "tc/engine/compile/quota.h"
#include "tc/halide_bridge/lower/extract_scop.h"
#include "tc/halide_bridge/lower/hoist_invariants.h"
#include "tc/halide_bridge/lower/lower.h"
#include "tc/polyhedral/map/split_reduction.h"
#include "tc/polyhedral/schedule/schedule.h"
#include "tc/strategy/choose_reduction_parts.h"

namespace tc::engine {
namespace {

using polyhedral::Scop;

const BackEnd& back_end(const CompileState& state) { return state.target.is_cuda() ? cuda_back_end() : cpu_back_end(); }

bool is_empty(const halide_bridge::ProgramStatement& statement) {
  return std::any_of(statement.domain.begin(), statement.domain.end(),
                     [](const lang::Interval& interval) { return interval.extent <= 0; });
}

/// Throws OptionsError for \p names of which no statement has an iterator.
void check_iterators(const halide_bridge::Program& program, const char* option, const std::vector<std::string>& names) {
  std::set<std::string> known;
  for (const auto& launch : program.launches)
    for (const auto& statement : launch.statements)
      known.insert(statement.iterators.begin(), statement.iterators.end());
  for (const auto& name : names)
    if (!known.count(name))
      throw OptionsError(str("mapping option '", option, "=", join(names, "/"), "': '", program.name,
                             "' has no iterator '", name, "', it has ", join(known)));
}

void lower(CompileState& state) {
  state.program = std::make_shared<halide_bridge::Program>(
      halide_bridge::hoist_invariants(halide_bridge::lower(state.function->def, state.function->ranges, state.sizes)));
  for (auto& launch : state.program->launches) std::erase_if(launch.statements, is_empty);
  check_iterators(*state.program, "parallel_along", state.mapping.parallel_along);
  check_iterators(*state.program, "vector_along", state.mapping.vector_along);
  state.launches.clear();
  state.launches.resize(state.program->launches.size());
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
  }
  for (const auto& check : state.program->launches[index].checks)
    if (launch.scop->has_tensor(check.flag)) launch.scop->tensor(check.flag).live_out = true;
  launch.plain.emplace(*launch.scop);
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
        auto criterion = back_end(state).fusion_criterion(state, *launch.scop);
        launch.scop->schedule = polyhedral::compute_schedule(*launch.scop, *launch.dependences,
                                                             back_end(state).schedule_options(state), criterion.get());
      },
      [] {});
}

/// Cuts the reductions of a launch that would leave processors without work into parts, before its clusters are mapped.
/// A schedule that was given stays as it is.
void cut_reductions(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  if (!launch.dependences || launch.has_own_schedule) return;
  with_quota(
      state, *launch.scop, "map", "reductions are not cut into parts", launch.scop->statements.size(),
      [&] {
        auto chosen = strategy::choose_reduction_parts(*launch.scop, state.target, state.mapping);
        if (chosen.empty()) return;
        auto cut = *launch.scop;
        for (const auto& parts : chosen)
          cut = polyhedral::split_reduction(cut, parts, back_end(state).schedule_options(state));
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

std::string print_schedule(const LaunchState& launch) { return polyhedral::print_block(launch.scop->schedule); }

std::string print_dependences(const LaunchState& launch) {
  if (!launch.dependences) return "not computed: quota exhausted\n";
  TextStream out;
  out << "flow: " << launch.dependences->flow << "\nanti: " << launch.dependences->anti
      << "\noutput: " << launch.dependences->output << "\n";
  return out.str();
}

void build(CompileState& state) {
  std::vector<cuda::KernelText> texts;
  for (const auto& launch : state.launches) texts.insert(texts.end(), launch.texts.begin(), launch.texts.end());
  state.device = cuda::build_device_code(texts, state.target.grid.architecture, state.cancellation);
}

using Step = void (*)(CompileState&, std::size_t);
using Print = std::string (*)(const LaunchState&);

/// \p stage, of launch \p index, made to do nothing for a launch without statements.
Stage<CompileState> unless_empty(Stage<CompileState> stage, std::size_t index) {
  auto is_empty = [index](const CompileState& state) { return state.program->launches[index].statements.empty(); };
  stage.run = [=, run = stage.run](CompileState& state) {
    if (!is_empty(state)) run(state);
  };
  stage.print = [=, print = stage.print](const CompileState& state) {
    return is_empty(state) ? std::string() : print(state);
  };
  if (stage.verify)
    stage.verify = [=, verify = stage.verify](const CompileState& state) {
      if (!is_empty(state)) verify(state);
    };
  return stage;
}

/// A stage that is the same for all targets.
Stage<CompileState> shared_stage(const char* name, std::size_t index, Step step, Print print) {
  Stage<CompileState> stage;
  stage.name = name;
  stage.run = [=](CompileState& state) { step(state, index); };
  stage.print = [=](const CompileState& state) { return print(state.launches[index]); };
  return stage;
}

/// A stage that the back end of the target does.
Stage<CompileState> back_end_stage(const char* name, std::size_t index, Step BackEnd::* step, Print BackEnd::* print) {
  Stage<CompileState> stage;
  stage.name = name;
  stage.run = [=](CompileState& state) { (back_end(state).*step)(state, index); };
  stage.print = [=](const CompileState& state) { return (back_end(state).*print)(state.launches[index]); };
  return stage;
}

/// \p stage, which begins with \p step.
Stage<CompileState> after(Step step, Stage<CompileState> stage, std::size_t index) {
  stage.run = [=, run = stage.run](CompileState& state) {
    step(state, index);
    run(state);
  };
  return stage;
}

void replace_schedule(LaunchState& launch, const std::string& text) {
  try {
    launch.scop->schedule = isl::schedule(launch.scop->ctx(), text);
    launch.has_own_schedule = true;
  } catch (const isl::exception& error) {
    throw OptionsError(str("the replacement of stage 'schedule' is not a schedule tree: ", error.what()));
  }
}

}  // namespace

Stage<CompileState> build_stage() {
  Stage<CompileState> stage;
  stage.name = "build";
  stage.run = build;
  return stage;
}

const std::vector<Stage<CompileState>>& lower_stages() {
  static const std::vector<Stage<CompileState>> stages = [] {
    Stage<CompileState> stage;
    stage.name = "lower";
    stage.run = lower;
    stage.print = [](const CompileState& state) { return halide_bridge::print(*state.program); };
    return std::vector{stage};
  }();
  return stages;
}

std::vector<Stage<CompileState>> launch_stages(std::size_t index, std::size_t count) {
  std::vector<Stage<CompileState>> stages{
      shared_stage("extract", index, extract, print_accesses),
      shared_stage("depend", index, depend, print_dependences),
      shared_stage("schedule", index, schedule, print_schedule),
      after(cut_reductions, back_end_stage("map", index, &BackEnd::map, &BackEnd::print_mapped), index),
      back_end_stage("generate", index, &BackEnd::generate, &BackEnd::print_generated),
      back_end_stage("raise", index, &BackEnd::raise, &BackEnd::print_body),
      back_end_stage("emit", index, &BackEnd::emit, &BackEnd::print_emitted),
  };
  stages[2].parse = [=](CompileState& state, const std::string& text) {
    replace_schedule(state.launches[index], text);
  };
  for (std::size_t i : {0, 2, 3})
    stages[i].verify = [=](const CompileState& state) { back_end(state).verify(state.launches[index]); };
  stages[4].verify = [=](const CompileState& state) { back_end(state).verify_generated(state.launches[index]); };
  stages[5].verify = [=](const CompileState& state) {
    back_end(state).verify_body(state.launches[index], *state.program);
  };
  for (auto& stage : stages) {
    stage = unless_empty(stage, index);
    if (count > 1) stage.name += str(".", index);
  }
  return stages;
}

/// The tensors of \p scop in memory that \p used names.
std::vector<std::string> buffers_of(const polyhedral::Scop& scop, const std::set<std::string>& used) {
  std::vector<std::string> result;
  for (const auto& tensor : scop.tensors)
    if (tensor.storage != polyhedral::Tensor::Storage::Local && used.count(tensor.name)) result.push_back(tensor.name);
  return result;
}

}  // namespace tc::engine
