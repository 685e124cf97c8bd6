#include <sstream>

#include "tc/cuda/shared_layout.h"
#include "tc/engine/back_end.h"
#include "tc/engine/quota.h"
#include "tc/engine/shared_layouts.h"
#include "tc/halide_bridge/raise.h"
#include "tc/polyhedral/verify.h"
#include "tc/strategy/choose_grid_mapping.h"

namespace tc::engine {
namespace {

/// Rows are fused while enough of them stay parallel for half the processors.
polyhedral::MappingOptions schedule_options(const CompileState& state) {
  auto options = state.mapping;
  options.fuse_rows = state.target.grid.processors / 2;
  return options;
}

/// The kernel of \p part; where the quota runs out, one without buffers and tiles of accumulators, else one of one
/// thread. \p mapping becomes the one it has.
void map_part(CompileState& state, LaunchState& launch, const polyhedral::Scop& part,
              const polyhedral::GridClusterMapping& plain, polyhedral::GridClusterMapping& mapping) {
  auto take = [&] { launch.kernels.push_back({polyhedral::map_kernel(part, mapping), {}, {}, {}, {}}); };
  with_quota(state, *launch.scop, "map", "a kernel has neither buffers nor register tiles", take, [&] {
    mapping = plain;
    with_quota(state, *launch.scop, "map", "a kernel runs in one thread", take, [&] {
      mapping = {};
      take();
    });
  });
}

/// Fills the kernels of a launch, each with a quota of its own.
void map(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
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
  for (std::size_t i = 0; i < parts.size(); ++i)
    map_part(state, launch, parts[i], plain.clusters[i], launch.grid->clusters[i]);
}

std::string extents(const std::array<std::int64_t, 3>& sizes) {
  return str(sizes[0], "x", sizes[1], "x", sizes[2]);
}

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
  with_quota(state, *launch.scop, "generate", "program order is used, in one thread", all, [&] {
    launch.scop.emplace(*launch.plain);
    launch.grid.emplace();
    launch.kernels.clear();
    for (auto& kernel : polyhedral::map_to_grid(*launch.scop, {}))
      launch.kernels.push_back({std::move(kernel), {}, {}, {}, {}});
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
    std::ostringstream out;
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
}

/// The def's name, with the number of the launch and of the kernel where there are several.
std::string kernel_name(const CompileState& state, std::size_t index, std::size_t kernel) {
  auto name = state.program->name;
  if (state.launches.size() > 1) name += str("_", index);
  if (state.launches[index].kernels.size() > 1) name += str("_", kernel);
  return name;
}

void emit(CompileState& state, std::size_t index) {
  auto& kernels = state.launches[index].kernels;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    auto& part = kernels[k];
    cuda::KernelShape shape{part.kernel.grid, part.kernel.block, 0};
    part.text = cuda::emit_kernel(kernel_name(state, index, k), *part.body, part.buffers, shape);
    check_limits(part.text, state.target.grid);
  }
}

std::string print_emitted(const LaunchState& launch) {
  std::string text;
  for (const auto& part : launch.kernels) text += part.text.text;
  return text;
}

void verify(const LaunchState& launch) {
  if (launch.dependences) polyhedral::verify(*launch.scop, *launch.dependences);
  for (const auto& part : launch.kernels) polyhedral::verify_kernel(part.kernel);
}

}  // namespace

const BackEnd& cuda_back_end() {
  static const BackEnd back_end{schedule_options, map,  print_mapped,  generate, print_generated, raise,
                                print_body,       emit, print_emitted, verify};
  return back_end;
}

}  // namespace tc::engine
