#include "tc/engine/compile/pipeline.h"

#include <algorithm>

#include "tc/base/str.h"
#include "tc/engine/compile/back_end.h"
#include "tc/halide_bridge/lower/extract_scop.h"
#include "tc/halide_bridge/lower/lower.h"
#include "tc/halide_bridge/rewrite/drop_idle_iterators.h"
#include "tc/halide_bridge/rewrite/hoist_invariants.h"
#include "tc/halide_bridge/rewrite/ragged_updates.h"
#include "tc/halide_bridge/rewrite/running_reductions.h"
#include "tc/halide_bridge/rewrite/scatter_matches.h"
#include "tc/halide_bridge/rewrite/scatter_stores.h"
#include "tc/halide_bridge/rewrite/solve_matches.h"
#include "tc/halide_bridge/rewrite/split_residues.h"
#include "tc/halide_bridge/rewrite/triangular_updates.h"

namespace tc::engine {
namespace {

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

/// Are \p a and \p b one expression, or both none?
bool is_same(const Halide::Expr& a, const Halide::Expr& b) {
  return a.same_as(b) || (a.defined() && b.defined() && Halide::Internal::equal(a, b));
}

bool are_same(const std::vector<Halide::Expr>& a, const std::vector<Halide::Expr>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) { return is_same(x, y); });
}

bool is_same(const halide_bridge::ProgramStatement& a, const halide_bridge::ProgramStatement& b) {
  return a.id == b.id && a.kind == b.kind && a.target == b.target && a.iterators == b.iterators &&
         a.domain == b.domain && a.loops == b.loops && is_same(a.value, b.value) &&
         are_same(a.subscripts, b.subscripts) && are_same(a.conditions, b.conditions) &&
         a.ragged.has_value() == b.ragged.has_value();
}

/// Did the pass that made \p after of \p before leave all statements as they were?
bool is_same(const halide_bridge::Program& before, const halide_bridge::Program& after) {
  const auto same = [](const auto& a, const auto& b) { return is_same(a, b); };
  return std::equal(before.launches.begin(), before.launches.end(), after.launches.begin(), after.launches.end(),
                    [&](const auto& a, const auto& b) {
                      return std::equal(a.statements.begin(), a.statements.end(), b.statements.begin(),
                                        b.statements.end(), same);
                    });
}

void lower(CompileState& state) {
  auto program = halide_bridge::lower(state.function->def, state.function->ranges, state.sizes, state.symbolic);
  check_iterators(program, "parallel_along", state.mapping.parallel_along);
  check_iterators(program, "vector_along", state.mapping.vector_along);
  state.rewrites.clear();
  const auto rewrite = [&](const char* pass, halide_bridge::Program rewritten) {
    if (!is_same(program, rewritten)) state.rewrites.emplace_back(pass);
    program = std::move(rewritten);
  };
  std::set<std::string> named(state.mapping.parallel_along.begin(), state.mapping.parallel_along.end());
  named.insert(state.mapping.vector_along.begin(), state.mapping.vector_along.end());
  rewrite("drop_idle_iterators", halide_bridge::drop_idle_iterators(program, named));
  if (state.back_end->runs_reductions_in_order) rewrite("scatter_stores", halide_bridge::scatter_stores(program));
  rewrite("solve_matches", halide_bridge::solve_matches(program, named));
  if (state.back_end->splits_residues && state.symbolic.empty())
    rewrite("split_residues", halide_bridge::split_residues(program, named));
  if (state.back_end->runs_reductions_in_order) {
    rewrite("running_reductions", halide_bridge::running_reductions(program));
    rewrite("triangular_updates", halide_bridge::triangular_updates(program));
  }
  rewrite("scatter_matches", halide_bridge::scatter_matches(program));
  rewrite("hoist_invariants", halide_bridge::hoist_invariants(program, !state.mapping.batch_invariant));
  const bool in_vectors = state.back_end->runs_reductions_in_order;
  const halide_bridge::RaggedOptions ragged{named, in_vectors ? state.target.vector_bytes() : 0, in_vectors};
  rewrite("ragged_updates", halide_bridge::ragged_updates(program, ragged));
  state.program = std::make_shared<halide_bridge::Program>(std::move(program));
  for (auto& launch : state.program->launches)
    std::erase_if(launch.statements,
                  [&](const auto& statement) { return halide_bridge::is_empty(*state.program, statement); });
  state.launches.clear();
  for (std::size_t i = 0; i < state.program->launches.size(); ++i)
    state.launches.push_back(state.back_end->start_launch());
}

/// The stage that \p row is for launch \p index; it does nothing for a launch without statements.
Stage<CompileState> stage_of(const LaunchStage& row, std::size_t index) {
  auto is_empty = [index](const CompileState& state) { return state.program->launches[index].statements.empty(); };
  Stage<CompileState> stage;
  stage.name = stage.step = row.name;
  stage.run = [=, run = row.run](CompileState& state) {
    if (!is_empty(state)) run(state, index);
  };
  if (row.print)
    stage.print = [=, print = row.print](const CompileState& state) {
      return is_empty(state) ? std::string() : print(state.launches[index]);
    };
  if (row.verify)
    stage.verify = [=, verify = row.verify](const CompileState& state) {
      if (!is_empty(state)) verify(state, state.launches[index]);
    };
  if (row.parse)
    stage.parse = [=, parse = row.parse](CompileState& state, const std::string& text) {
      if (!is_empty(state)) parse(state, index, text);
    };
  return stage;
}

}  // namespace

const BackEnd& back_end_of(const Target& target) { return target.is_cuda() ? cuda_back_end() : cpu_back_end(); }

const MachineKind& machine_kind_of(const Target& target) { return back_end_of(target).machine; }

const std::vector<Stage<CompileState>>& lower_stages() {
  static const auto& stages = *new std::vector<Stage<CompileState>>([] {
    Stage<CompileState> stage;
    stage.name = stage.step = "lower";
    stage.run = lower;
    stage.print = [](const CompileState& state) { return halide_bridge::print(*state.program); };
    return std::vector{stage};
  }());
  return stages;
}

std::vector<Stage<CompileState>> launch_stages(const CompileState& state, std::size_t index, Phase first, Phase last) {
  std::vector<Stage<CompileState>> stages;
  for (const auto& row : state.back_end->stages) {
    if (row.phase < first || row.phase > last) continue;
    stages.push_back(stage_of(row, index));
    if (state.launches.size() > 1) stages.back().name += str(".", index);
  }
  return stages;
}

std::vector<Stage<CompileState>> final_stages(const CompileState& state) { return state.back_end->final_stages; }

std::vector<std::string> stage_names(const Target& target) {
  std::vector<std::string> names;
  for (const auto& stage : lower_stages()) names.push_back(stage.name);
  for (const auto& row : back_end_of(target).stages) names.emplace_back(row.name);
  for (const auto& stage : back_end_of(target).final_stages) names.push_back(stage.name);
  return names;
}

/// The tensors of \p scop in memory that \p used names.
std::vector<std::string> buffers_of(const polyhedral::Scop& scop, const std::set<std::string>& used) {
  std::vector<std::string> result;
  for (const auto& tensor : scop.tensors)
    if (tensor.storage != polyhedral::Tensor::Storage::Local && used.count(tensor.name)) result.push_back(tensor.name);
  return result;
}

}  // namespace tc::engine
