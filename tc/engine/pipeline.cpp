#include "tc/engine/pipeline.h"

#include <algorithm>
#include <sstream>

#include "tc/base/str.h"
#include "tc/cpu/prefetch.h"
#include "tc/halide_bridge/extract_scop.h"
#include "tc/halide_bridge/lower.h"
#include "tc/halide_bridge/raise.h"
#include "tc/polyhedral/map_to_cpu.h"
#include "tc/polyhedral/schedule.h"
#include "tc/polyhedral/verify.h"
#include "tc/strategy/choose_grid_mapping.h"
#include "tc/strategy/choose_mapping.h"

namespace tc::engine {
namespace {

using polyhedral::Scop;

/// Runs \p work with so many isl operations to spend as the options say; on exhaustion notes it and runs \p otherwise.
template <typename Work, typename Otherwise>
void with_quota(CompileState& state, const Scop& scop, const std::string& phase, const char* consequence, Work&& work,
                Otherwise&& otherwise) {
  {
    polyhedral::OperationQuota quota(scop.ctx(), state.mapping.quota);
    try {
      work();
      return;
    } catch (const isl::exception& error) {
      state.cancellation.check(phase.c_str());
      if (!quota.caused(error)) throw;
    }
  }
  state.fallbacks.push_back(
      str(phase, " ran out of its quota of ", state.mapping.quota, " isl operations: ", consequence));
  if (logging()) log(LogLevel::Warning, state.fallbacks.back());
  otherwise();
}

bool is_empty(const halide_bridge::ProgramStatement& statement) {
  return std::any_of(statement.domain.begin(), statement.domain.end(),
                     [](const lang::Interval& interval) { return interval.extent <= 0; });
}

/// Throws OptionsError for \p names of which no statement has an iterator.
void check_iterators(const halide_bridge::Program& program, const char* option, const std::vector<std::string>& names) {
  std::set<std::string> known;
  for (const auto& launch : program.launches)
    for (const auto& statement : launch.statements) known.insert(statement.iterators.begin(), statement.iterators.end());
  for (const auto& name : names)
    if (!known.count(name))
      throw OptionsError(str("mapping option '", option, "=", join(names, "/"), "': '", program.name,
                             "' has no iterator '", name, "', it has ", join(known)));
}

void lower(CompileState& state) {
  state.program = std::make_shared<halide_bridge::Program>(
      halide_bridge::lower(state.function->def, state.function->ranges, state.sizes));
  for (auto& launch : state.program->launches) std::erase_if(launch.statements, is_empty);
  check_iterators(*state.program, "parallel_along", state.mapping.parallel_along);
  check_iterators(*state.program, "vector_along", state.mapping.vector_along);
  state.launches.clear();
  state.launches.resize(state.program->launches.size());
}

void extract(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  launch.scop.emplace(halide_bridge::extract_scop(*state.program, index));
  state.watch(launch.scop->context.get());
  for (const auto& argument : state.arguments)
    if (launch.scop->has_tensor(argument.name)) launch.scop->tensor(argument.name).strides = argument.spec.strides;
  for (const auto& check : state.program->launches[index].checks)
    if (launch.scop->has_tensor(check.flag)) launch.scop->tensor(check.flag).live_out = true;
  launch.plain.emplace(*launch.scop);
}

void depend(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  with_quota(
      state, *launch.scop, "depend", "program order is kept, in one thread",
      [&] { launch.dependences.emplace(polyhedral::compute_dependences(*launch.scop)); }, [] {});
}

void schedule(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  if (!launch.dependences) return;
  with_quota(
      state, *launch.scop, "schedule", "program order is kept",
      [&] {
        auto options = state.mapping;
        if (state.target.is_cuda()) options.fuse_rows = state.target.grid.processors / 2;
        launch.scop->schedule = polyhedral::compute_schedule(*launch.scop, *launch.dependences, options);
      },
      [] {});
}

/// The kernel of \p part; where the quota runs out, one without buffers and tiles of accumulators, else one of one thread.
/// \p mapping becomes the one it has.
void map_part(CompileState& state, LaunchState& launch, const Scop& part, const polyhedral::GridClusterMapping& plain,
              polyhedral::GridClusterMapping& mapping) {
  auto take = [&] { launch.kernels.push_back({polyhedral::map_kernel(part, mapping), {}, {}, {}, {}}); };
  with_quota(state, *launch.scop, "map", "a kernel has neither buffers nor register tiles", take, [&] {
    mapping = plain;
    with_quota(state, *launch.scop, "map", "a kernel runs in one thread", take, [&] {
      mapping = {};
      take();
    });
  });
}

/// The kernels of a launch, each with a quota of its own.
void map_to_kernels(CompileState& state, LaunchState& launch) {
  polyhedral::GridMapping plain;
  launch.grid.emplace();
  if (launch.dependences && state.mapping.parallel)
    with_quota(
        state, *launch.scop, "map", "kernels run in one thread",
        [&] {
          launch.grid = strategy::choose_grid_mapping(*launch.scop, state.target, state.mapping);
          auto simple = state.mapping;
          simple.promote = simple.reduce_in_block = simple.shared = simple.registers = false;
          plain = strategy::choose_grid_mapping(*launch.scop, state.target, simple);
        },
        [&] { launch.grid.emplace(); });
  auto parts = polyhedral::kernel_parts(*launch.scop);
  launch.grid->clusters.resize(parts.size());
  plain.clusters.resize(parts.size());
  launch.kernels.clear();
  for (std::size_t i = 0; i < parts.size(); ++i) map_part(state, launch, parts[i], plain.clusters[i], launch.grid->clusters[i]);
}

void map(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  if (state.target.is_cuda()) return map_to_kernels(state, launch);
  if (!launch.dependences) return;
  with_quota(
      state, *launch.scop, "map", "loops are neither tiled nor parallel nor vectors",
      [&] {
        launch.mapping = strategy::choose_mapping(*launch.scop, state.target, state.mapping);
        Scop mapped = polyhedral::map_to_cpu(*launch.scop, *launch.mapping);
        launch.scop.emplace(std::move(mapped));
      },
      [] {});
}

void generate_kernels(CompileState& state, LaunchState& launch) {
  auto all = [&] {
    for (auto& part : launch.kernels) part.ast.emplace(polyhedral::generate_ast(part.kernel.scop));
  };
  with_quota(state, *launch.scop, "generate", "program order is used, in one thread", all, [&] {
    launch.scop.emplace(*launch.plain);
    launch.grid.emplace();
    launch.kernels.clear();
    for (auto& kernel : polyhedral::map_to_grid(*launch.scop, {})) launch.kernels.push_back({std::move(kernel), {}, {}, {}, {}});
    all();
  });
}

void generate(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  if (state.target.is_cuda()) return generate_kernels(state, launch);
  with_quota(
      state, *launch.scop, "generate", "program order is used, in one thread",
      [&] { launch.ast.emplace(polyhedral::generate_ast(*launch.scop)); },
      [&] {
        launch.scop.emplace(*launch.plain);
        launch.ast.emplace(polyhedral::generate_ast(*launch.scop));
      });
}

/// The tensors of \p scop in memory that \p used names.
std::vector<std::string> buffers_of(const Scop& scop, const std::set<std::string>& used) {
  std::vector<std::string> result;
  for (const auto& tensor : scop.tensors)
    if (tensor.storage != polyhedral::Tensor::Storage::Local && used.count(tensor.name)) result.push_back(tensor.name);
  return result;
}

void raise_kernels(CompileState& state, LaunchState& launch) {
  std::set<std::string> all;
  for (auto& part : launch.kernels) {
    auto body = halide_bridge::raise(*part.ast, part.kernel.scop, *state.program, {.as_kernel = true});
    part.body = std::make_shared<Halide::Internal::Stmt>(body);
    auto used = halide_bridge::buffer_names(body);
    part.buffers = buffers_of(part.kernel.scop, used);
    all.insert(used.begin(), used.end());
  }
  launch.buffers = buffers_of(*launch.scop, all);
}

void raise(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  if (state.target.is_cuda()) return raise_kernels(state, launch);
  auto body = halide_bridge::raise(*launch.ast, *launch.scop, *state.program);
  launch.body = std::make_shared<Halide::Internal::Stmt>(body);
  launch.buffers = buffers_of(*launch.scop, halide_bridge::buffer_names(body));
}

std::string function_name(const CompileState& state, std::size_t index) {
  return str("tc_", state.program->name, "_", index);
}

/// Throws unless the machine can run \p kernel.
void check_limits(const cuda::KernelText& kernel, const GridLimits& limits) {
  if (kernel.shape.threads() > limits.block_threads)
    throw OptionsError(str("kernel '", kernel.name, "' would have blocks of ", kernel.shape.threads(), " threads, ", limits.architecture,
                           " has at most ", limits.block_threads, ": choose a smaller block"));
  if (kernel.shared_bytes > limits.block_shared_bytes_requested)
    throw ResourceError(str("kernel '", kernel.name, "' would need ", kernel.shared_bytes, " bytes of shared memory for each block, ",
                            limits.architecture, " has at most ", limits.block_shared_bytes_requested, ": choose smaller tiles"));
}

/// The def's name, with the number of the launch and of the kernel where there are several.
std::string kernel_name(const CompileState& state, std::size_t index, std::size_t kernel) {
  auto name = state.program->name;
  if (state.launches.size() > 1) name += str("_", index);
  if (state.launches[index].kernels.size() > 1) name += str("_", kernel);
  return name;
}

void emit_kernels(CompileState& state, std::size_t index) {
  auto& kernels = state.launches[index].kernels;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    auto& part = kernels[k];
    cuda::KernelShape shape{part.kernel.grid, part.kernel.block, 0};
    part.text = cuda::emit_kernel(kernel_name(state, index, k), *part.body, part.buffers, shape);
    check_limits(part.text, state.target.grid);
  }
}

void emit(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  if (state.target.is_cuda()) return emit_kernels(state, index);
  auto body = *launch.body;
  if (state.mapping.prefetch) body = cpu::prefetch(body, state.target, {state.mapping.prefetch_distance});
  launch.code = cpu::emit_object(function_name(state, index), body, launch.buffers, state.target);
}

/// The laws that hold for the schedule of a launch.
void verify_launch(const CompileState& state, std::size_t index) {
  const auto& launch = state.launches[index];
  if (launch.dependences) polyhedral::verify(*launch.scop, *launch.dependences);
  for (const auto& part : launch.kernels) polyhedral::verify_kernel(part.kernel);
}

std::string print_accesses(const Scop& scop) {
  std::ostringstream out;
  for (const auto& statement : scop.statements) {
    out << statement.id << ": domain " << statement.domain << "\n  writes " << statement.write.relation << "\n";
    for (const auto& read : statement.reads)
      out << "  reads " << read.relation << (read.exact ? "" : " (over-approximated)") << "\n";
  }
  return out.str();
}

std::string print_schedule(const LaunchState& launch) {
  return polyhedral::print_block(launch.scop->schedule);
}

std::string extents(const std::array<std::int64_t, 3>& sizes) { return str(sizes[0], "x", sizes[1], "x", sizes[2]); }

/// \p print of each kernel, below a line that names it.
std::string print_kernels(const LaunchState& launch, const std::function<std::string(const KernelState&)>& print) {
  std::string text;
  for (std::size_t i = 0; i < launch.kernels.size(); ++i) {
    const auto& kernel = launch.kernels[i].kernel;
    text += str("kernel ", i, ": grid ", extents(kernel.grid), ", block ", extents(kernel.block),
                kernel.shared_bytes > 0 ? str(", shared ", kernel.shared_bytes) : "", "\n", print(launch.kernels[i]));
  }
  return text;
}

std::string print_generated(const LaunchState& launch) {
  if (launch.kernels.empty()) return polyhedral::print(*launch.ast);
  return print_kernels(launch, [](const KernelState& part) { return polyhedral::print(*part.ast); });
}

std::string print_mapped(const LaunchState& launch) {
  if (!launch.kernels.empty())
    return polyhedral::to_string(*launch.grid) + "\n" +
           print_kernels(launch, [](const KernelState& part) { return polyhedral::print_block(part.kernel.scop.schedule); });
  return (launch.mapping ? polyhedral::to_string(*launch.mapping) + "\n" : std::string()) + print_schedule(launch);
}

std::string print_dependences(const LaunchState& launch) {
  if (!launch.dependences) return "not computed: quota exhausted\n";
  std::ostringstream out;
  out << "flow: " << launch.dependences->flow << "\nanti: " << launch.dependences->anti
      << "\noutput: " << launch.dependences->output << "\n";
  return out.str();
}

std::string print_body(const LaunchState& launch) {
  if (!launch.kernels.empty())
    return print_kernels(launch, [](const KernelState& part) {
      std::ostringstream out;
      out << *part.body;
      return out.str();
    });
  std::ostringstream out;
  out << *launch.body;
  return out.str();
}

std::string print_emitted(const LaunchState& launch) {
  std::string text;
  for (const auto& part : launch.kernels) text += part.text.text;
  return text;
}

void build(CompileState& state) {
  std::vector<cuda::KernelText> texts;
  for (const auto& launch : state.launches)
    for (const auto& part : launch.kernels) texts.push_back(part.text);
  state.device = cuda::build_device_code(texts, state.target.grid.architecture, state.cancellation);
}

using Step = void (*)(CompileState&, std::size_t);
using Print = std::string (*)(const LaunchState&);

/// A stage of one launch. It does nothing for a launch without statements.
Stage<CompileState> launch_stage(const char* name, const std::string& suffix, std::size_t index, Step step,
                                 Print print) {
  Stage<CompileState> stage;
  stage.name = name + suffix;
  stage.run = [=](CompileState& state) {
    if (!state.program->launches[index].statements.empty()) step(state, index);
  };
  if (print)
    stage.print = [=](const CompileState& state) {
      return state.program->launches[index].statements.empty() ? std::string() : print(state.launches[index]);
    };
  return stage;
}

std::function<void(const CompileState&)> laws(std::size_t index) {
  return [index](const CompileState& state) {
    if (!state.program->launches[index].statements.empty()) verify_launch(state, index);
  };
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
  std::string suffix = count > 1 ? str(".", index) : std::string();
  auto print_scop = [](const LaunchState& launch) { return print_accesses(*launch.scop); };
  std::vector<Stage<CompileState>> stages{
      launch_stage("extract", suffix, index, extract, print_scop),
      launch_stage("depend", suffix, index, depend, print_dependences),
      launch_stage("schedule", suffix, index, schedule, print_schedule),
      launch_stage("map", suffix, index, map, print_mapped),
      launch_stage("generate", suffix, index, generate, print_generated),
      launch_stage("raise", suffix, index, raise, print_body),
      launch_stage("emit", suffix, index, emit, print_emitted),
  };
  stages[0].verify = stages[2].verify = stages[3].verify = laws(index);
  stages[2].parse = [index](CompileState& state, const std::string& text) {
    auto& scop = *state.launches[index].scop;
    try {
      scop.schedule = isl::schedule(scop.ctx(), text);
    } catch (const isl::exception& error) {
      throw OptionsError(str("the replacement of stage 'schedule' is not a schedule tree: ", error.what()));
    }
  };
  return stages;
}

}  // namespace tc::engine
