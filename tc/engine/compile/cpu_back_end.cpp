#include "tc/base/str.h"
#include "tc/cpu/stmt/statement_passes.h"
#include "tc/engine/compile/back_end.h"
#include "tc/engine/compile/map_clusters.h"
#include "tc/engine/compile/quota.h"
#include "tc/engine/compile/scheduling_stages.h"
#include "tc/halide_bridge/laws/verify_body.h"
#include "tc/halide_bridge/raise/raise.h"
#include "tc/halide_bridge/raise/run_values.h"
#include "tc/polyhedral/laws/verify_ast.h"
#include "tc/strategy/cost/streamed_tensors.h"
#include "tc/strategy/cpu/choose_fusion.h"

namespace tc::engine {
namespace {

polyhedral::MappingOptions schedule_options(const CompileState& state) { return state.mapping; }

std::unique_ptr<polyhedral::FusionCriterion> fusion_criterion(const CompileState& state, const polyhedral::Scop& scop) {
  return std::make_unique<strategy::ChooseFusion>(scop, state.target, state.mapping);
}

void generate(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  with_quota(
      state, *launch.scop, "generate", "program order is used, in one thread", launch.scop->statements.size(),
      [&] { launch.cpu().ast.emplace(polyhedral::generate_ast(*launch.scop)); },
      [&] {
        launch.scop.emplace(*launch.plain);
        launch.cpu().ast.emplace(polyhedral::generate_ast(*launch.scop));
      });
}

std::string print_generated(const LaunchState& launch) { return polyhedral::print(*launch.cpu().ast); }

void raise(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  auto body = halide_bridge::raise(*launch.cpu().ast, *launch.scop, *state.program);
  launch.cpu().body = std::make_shared<Halide::Internal::Stmt>(body);
  launch.cpu().streamed = strategy::streamed_tensors(*launch.scop, state.target);
  launch.buffers = buffers_of(*launch.scop, halide_bridge::buffer_names(body));
  if (!state.run_values.empty()) launch.buffers.emplace_back(halide_bridge::run_values_buffer);
}

std::string print_body(const LaunchState& launch) {
  TextStream out;
  out << *launch.cpu().body;
  return out.str();
}

void emit(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  auto& on = launch.cpu();
  const auto body = halide_bridge::with_run_values(*on.body, state.run_values);
  on.code = cpu::emit_prepared(str("tc_", state.program->name, "_", index), body, launch.buffers, state.target,
                               contraction_of(state));
}

void verify_generated(const CompileState&, const LaunchState& launch) {
  const auto& ast = *launch.cpu().ast;
  polyhedral::verify_ast(ast, *launch.scop);
  if (launch.dependences) polyhedral::verify_ast_order(ast, *launch.scop, *launch.dependences);
}

void verify_raised(const CompileState& state, const LaunchState& launch) {
  halide_bridge::verify_body(*launch.cpu().body, *launch.cpu().ast, *launch.scop, *state.program);
}

/// The stage of one pass over the raised statement.
LaunchStage statement_stage(const cpu::StatementPass& pass) {
  auto run = [run = pass.run](CompileState& state, std::size_t index) {
    auto& launch = state.launches[index];
    auto& body = launch.cpu().body;
    const cpu::StatementSettings settings{
        state.target,
        state.mapping.prefetch,
        state.mapping.prefetch_distance,
        launch.cpu().streamed,
        state.mapping.batch_invariant,
        state.mapping.batch_invariant ? std::set<std::string>() : state.program->running};
    body = std::make_shared<Halide::Internal::Stmt>(run(*body, settings));
  };
  return {pass.name, Phase::Code, run, print_body, pass.like_raised ? verify_raised : nullptr};
}

LaunchState start_launch() {
  LaunchState launch;
  launch.on = CpuLaunch();
  return launch;
}

std::vector<LaunchStage> all_stages() {
  auto stages = scheduling_stages();
  auto clusters = cluster_stages();
  stages.insert(stages.end(), clusters.begin(), clusters.end());
  stages.push_back({"generate", Phase::Code, generate, print_generated, verify_generated});
  stages.push_back({"raise", Phase::Code, raise, print_body, verify_raised});
  for (const auto& pass : cpu::statement_passes()) stages.push_back(statement_stage(pass));
  stages.push_back({"emit", Phase::Code, emit});
  return stages;
}

}  // namespace

const BackEnd& cpu_back_end() {
  static const auto& back_end = *new BackEnd{.schedule_options = schedule_options,
                                             .fusion_criterion = fusion_criterion,
                                             .start_launch = start_launch,
                                             .stages = all_stages(),
                                             .final_stages = {},
                                             .aligned_anywhere = true,
                                             .runs_in_place = true,
                                             .binds_constants = true,
                                             .splits_residues = true,
                                             .runs_reductions_in_order = true,
                                             .machine = cpu_machine()};
  return back_end;
}

}  // namespace tc::engine
