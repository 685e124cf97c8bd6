#include <algorithm>
#include <set>
#include <sstream>

#include "tc/base/contains.h"
#include "tc/base/str.h"
#include "tc/cuda/shared_layout.h"
#include "tc/engine/compile/back_end.h"
#include "tc/engine/compile/grid_kernels.h"
#include "tc/engine/compile/quota.h"
#include "tc/engine/compile/shared_layouts.h"
#include "tc/halide_bridge/raise/raise.h"
#include "tc/polyhedral/laws/verify.h"
#include "tc/polyhedral/laws/verify_ast.h"
#include "tc/polyhedral/map_grid/phases.h"
#include "tc/strategy/choose_grid_mapping.h"
#include "tc/strategy/resident_blocks.h"

namespace tc::engine {
namespace {

/// Rows are fused while enough of them stay parallel for half the processors.
polyhedral::MappingOptions schedule_options(const CompileState& state) {
  auto options = state.mapping;
  options.fuse_rows = state.target.grid.processors / 2;
  return options;
}

std::unique_ptr<polyhedral::FusionCriterion> fusion_criterion(const CompileState&, const polyhedral::Scop&) {
  return nullptr;
}

/// Fills the kernels of a launch, each with a quota of its own.
void map(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  polyhedral::GridMapping plain;
  launch.grid.emplace();
  if (launch.dependences && state.mapping.parallel)
    with_quota(
        state, *launch.scop, "map", "kernels run in one thread", launch.scop->statements.size(),
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
  launch.phases.reset();
  for (std::size_t i = 0; i < parts.size(); ++i)
    launch.kernels.push_back(
        {map_part(state, launch, parts[i], plain.clusters[i], launch.grid->clusters[i]), {}, {}, {}});
  if (state.mapping.cooperative && parts.size() > 1) join_phases(state, launch, parts, plain);
}

std::string extents(const std::array<std::int64_t, 3>& sizes) { return str(sizes[0], "x", sizes[1], "x", sizes[2]); }

/// \p print of each kernel, below a line that names it.
std::string print_kernels(const LaunchState& launch, const std::function<std::string(const KernelState&)>& print) {
  std::string text;
  for (std::size_t i = 0; i < launch.kernels.size(); ++i) {
    const auto& kernel = launch.kernels[i].kernel;
    text += str("kernel ", i, ": grid ", extents(kernel.grid), ", block ", extents(kernel.block),
                kernel.shared_bytes > 0 ? str(", shared ", kernel.shared_bytes) : "",
                launch.phases && launch.phases->grid_waits[i] ? ", then the grid waits" : "", "\n",
                print(launch.kernels[i]));
  }
  return text;
}

std::string print_mapped(const LaunchState& launch) {
  return polyhedral::to_string(*launch.grid) + "\n" + print_kernels(launch, [](const KernelState& part) {
           return polyhedral::print_block(part.kernel.scop.schedule);
         });
}

void generate(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  auto all = [&] {
    for (auto& part : launch.kernels) part.ast.emplace(polyhedral::generate_ast(part.kernel.scop));
  };
  with_quota(state, *launch.scop, "generate", "program order is used, in one thread", launch.scop->statements.size(),
             all, [&] {
               launch.scop.emplace(*launch.plain);
               launch.grid.emplace();
               launch.kernels.clear();
               launch.phases.reset();
               for (auto& kernel : polyhedral::map_to_grid(*launch.scop, {}))
                 launch.kernels.push_back({std::move(kernel), {}, {}, {}});
               all();
             });
}

std::string print_generated(const LaunchState& launch) {
  return print_kernels(launch, [](const KernelState& part) { return polyhedral::print(*part.ast); });
}

void raise(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  std::set<std::string> all;
  for (auto& part : launch.kernels) {
    auto nest = [&] { return halide_bridge::raise(*part.ast, part.kernel.scop, *state.program, {.as_kernel = true}); };
    auto body = nest();
    auto layouts = choose_shared_layouts(part.kernel, body, state.target.grid);
    body = cuda::swizzled(layouts.padded ? nest() : body, layouts.swizzles);
    part.body = std::make_shared<Halide::Internal::Stmt>(body);
    auto used = halide_bridge::buffer_names(body);
    part.buffers = buffers_of(part.kernel.scop, used);
    all.insert(used.begin(), used.end());
  }
  launch.buffers = buffers_of(*launch.scop, all);
}

std::string print_body(const LaunchState& launch) {
  return print_kernels(launch, [](const KernelState& part) {
    TextStream out;
    out << *part.body;
    return out.str();
  });
}

/// Throws unless the machine can run \p kernel.
void check_limits(const cuda::KernelText& kernel, const GridLimits& limits) {
  if (kernel.shape.threads() > limits.block_threads)
    throw OptionsError(str("kernel '", kernel.name, "' would have blocks of ", kernel.shape.threads(), " threads, ",
                           limits.architecture, " has at most ", limits.block_threads, ": choose a smaller block"));
  if (kernel.shared_bytes > limits.block_shared_bytes_requested)
    throw ResourceError(str("kernel '", kernel.name, "' would need ", kernel.shared_bytes,
                            " bytes of shared memory for each block, ", limits.architecture, " has at most ",
                            limits.block_shared_bytes_requested, ": choose smaller tiles"));
  if (!kernel.shape.cooperative) return;
  auto room = limits.processors * strategy::resident_blocks(limits, kernel.shape.threads(), kernel.shared_bytes, 1);
  if (kernel.shape.blocks() > room)
    throw ResourceError(str("kernel '", kernel.name, "' has ", kernel.shape.blocks(),
                            " blocks that wait for each other, ", limits.architecture, " has room for ", room,
                            " at once: choose a smaller grid, or smaller tiles"));
}

/// The def's name, with the number of the launch where there are several.
std::string launch_name(const CompileState& state, std::size_t index) {
  auto name = state.program->name;
  return state.launches.size() > 1 ? str(name, "_", index) : name;
}

/// The kernels of \p launch, phases of one, as text.
cuda::KernelText emit_whole(const LaunchState& launch, const std::string& name,
                            const std::set<std::string>& unaligned) {
  std::vector<cuda::Phase> phases;
  std::vector<std::string> buffers;
  cuda::KernelShape shape{
      {largest(kernels_of(launch)).second, 1, 1}, {launch.phases->threads, 1, 1}, launch.phases->blocks_per_processor};
  for (std::size_t i = 0; i < launch.kernels.size(); ++i) {
    const auto& part = launch.kernels[i];
    phases.push_back({part.body.get(), {part.kernel.grid, part.kernel.block}, launch.phases->grid_waits[i]});
    shape.cooperative = shape.cooperative || launch.phases->grid_waits[i];
    for (const auto& buffer : part.buffers)
      if (!contains(buffers, buffer)) buffers.push_back(buffer);
  }
  return cuda::emit_phases(name, phases, buffers, shape, unaligned);
}

void emit(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  const auto name = launch_name(state, index);
  const auto unaligned = unaligned_names(state.arguments);
  launch.texts.clear();
  if (launch.phases) launch.texts.push_back(emit_whole(launch, name, unaligned));
  for (std::size_t k = 0; !launch.phases && k < launch.kernels.size(); ++k) {
    const auto& part = launch.kernels[k];
    cuda::KernelShape shape{part.kernel.grid, part.kernel.block, part.kernel.blocks_per_processor};
    launch.texts.push_back(cuda::emit_kernel(launch.kernels.size() > 1 ? str(name, "_", k) : name, *part.body,
                                             part.buffers, shape, unaligned));
  }
  for (const auto& text : launch.texts) check_limits(text, state.target.grid);
}

std::string print_emitted(const LaunchState& launch) {
  std::string text;
  for (const auto& kernel : launch.texts) text += kernel.text;
  return text;
}

void verify(const LaunchState& launch) {
  if (launch.dependences) polyhedral::verify(*launch.scop, *launch.dependences);
  auto kernels = kernels_of(launch);
  for (const auto& kernel : kernels) polyhedral::verify_kernel(kernel);
  if (launch.phases) polyhedral::verify_phases(kernels, launch.phases->grid_waits);
}

void verify_generated(const LaunchState& launch) {
  for (const auto& part : launch.kernels) polyhedral::verify_ast(*part.ast, part.kernel.scop);
}

/// Threads of a block share memory and wait for each other: the emulator runs kernels.
void verify_body(const LaunchState&, const halide_bridge::Program&) {}

}  // namespace

const BackEnd& cuda_back_end() {
  static const BackEnd back_end{schedule_options,
                                fusion_criterion,
                                map,
                                print_mapped,
                                generate,
                                print_generated,
                                raise,
                                print_body,
                                emit,
                                print_emitted,
                                verify,
                                verify_generated,
                                verify_body};
  return back_end;
}

}  // namespace tc::engine
