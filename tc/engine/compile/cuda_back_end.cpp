#include <algorithm>
#include <set>

#include "tc/base/contains.h"
#include "tc/base/str.h"
#include "tc/cuda/swizzled_buffers.h"
#include "tc/engine/compile/back_end.h"
#include "tc/engine/compile/body_operations.h"
#include "tc/engine/compile/grid_kernels.h"
#include "tc/engine/compile/map_kernels.h"
#include "tc/engine/compile/quota.h"
#include "tc/engine/compile/scheduling_stages.h"
#include "tc/engine/machine/shared_layouts.h"
#include "tc/engine/run/run_values.h"
#include "tc/halide_bridge/laws/verify_body.h"
#include "tc/halide_bridge/math/fuse_products.h"
#include "tc/halide_bridge/raise/raise.h"
#include "tc/halide_bridge/raise/run_values.h"
#include "tc/polyhedral/laws/verify_ast.h"
#include "tc/polyhedral/map_grid/used_blocks.h"
#include "tc/strategy/construct/choose_grid_fusion.h"
#include "tc/strategy/grid/one_contraction.h"
#include "tc/strategy/grid/resident_blocks.h"

namespace tc::engine {
namespace {

/// Rows are fused while enough of them stay parallel for half the multiprocessors.
polyhedral::MappingOptions schedule_options(const CompileState& state) {
  auto options = state.mapping;
  options.fuse_rows = state.target.grid->multiprocessors / 2;
  return options;
}

std::unique_ptr<polyhedral::FusionCriterion> fusion_criterion(const CompileState& state, const polyhedral::Scop& scop) {
  if (state.construct == options::Construction::Rules) return std::make_unique<strategy::OneContraction>(scop);
  return std::make_unique<strategy::ChooseGridFusion>(scop, state.target, state.mapping,
                                                      body_operations(*state.program));
}

void generate(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  auto all = [&] {
    for (auto& part : launch.grid().kernels) part.ast.emplace(polyhedral::generate_ast(part.kernel->scop));
  };
  with_quota(state, *launch.scop, "generate", "program order is used, in one thread", launch.scop->statements.size(),
             all, [&] {
               launch.scop.emplace(*launch.plain);
               launch.grid().nests.clear();
               launch.grid().kernels.clear();
               launch.grid().phases.reset();
               for (auto& kernel :
                    polyhedral::map_to_grid(polyhedral::clustered(*launch.scop), {}, state.target.grid->warp_size)) {
                 launch.grid().kernels.emplace_back();
                 launch.grid().kernels.back().kernel = std::move(kernel);
               }
               all();
             });
}

std::string print_generated(const LaunchState& launch) {
  return print_kernels(launch, [](const KernelState& part) { return polyhedral::print(*part.ast); });
}

void raise(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  std::set<std::string> all;
  for (auto& part : launch.grid().kernels) {
    auto nest = [&] { return halide_bridge::raise(*part.ast, part.kernel->scop, *state.program, {.as_kernel = true}); };
    auto body = nest();
    auto layouts = choose_shared_layouts(*part.kernel, body, *state.target.grid);
    body = cuda::swizzled(layouts.padded ? nest() : body, layouts.swizzles, part.kernel->block);
    part.body = std::make_shared<Halide::Internal::Stmt>(body);
    auto used = halide_bridge::buffer_names(body);
    part.buffers = buffers_of(part.kernel->scop, used);
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
  auto room =
      limits.multiprocessors * strategy::resident_blocks(limits, kernel.shape.threads(), kernel.shared_bytes, 1);
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

/// The symbolic sizes, as parameters of isl.
std::vector<std::string> size_parameters(const CompileState& state) {
  std::vector<std::string> result;
  for (const auto& [name, range] : state.symbolic) result.push_back(polyhedral::size_parameter(name));
  return result;
}

/// The numbers that each run chooses, in order.
std::vector<cuda::RunNumber> run_numbers(const CompileState& state) {
  std::vector<cuda::RunNumber> result;
  for (const auto& [name, range] : state.symbolic)
    result.push_back({halide_bridge::size_variable(name), name, range.min, range.max});
  for (const auto& argument : state.arguments)
    for (std::size_t d = 0; d < argument.spec.strides.size() && result.size() < state.run_values.size(); ++d)
      result.push_back(
          {stride_variable(argument.name, d), str(argument.name, "_stride_", d), 0, argument.spec.strides[d]});
  return result;
}

/// Lets \p text take the numbers of a run, if there are some.
cuda::KernelText told(cuda::KernelText text, const CompileState& state) {
  if (state.run_values.empty()) return text;
  text.buffers.emplace_back(halide_bridge::run_values_buffer);
  text.number_count = state.run_values.size();
  return text;
}

/// The kernels of \p launch, phases of one, as text.
cuda::KernelText emit_whole(const LaunchState& launch, const std::string& name, const std::set<std::string>& unaligned,
                            const std::vector<cuda::RunNumber>& numbers) {
  std::vector<cuda::Phase> phases;
  std::vector<std::string> buffers;
  cuda::KernelShape shape{{largest(kernels_of(launch)).second, 1, 1},
                          {launch.grid().phases->threads, 1, 1},
                          launch.grid().phases->blocks_per_multiprocessor};
  for (std::size_t i = 0; i < launch.grid().kernels.size(); ++i) {
    const auto& part = launch.grid().kernels[i];
    phases.push_back({part.body.get(), {part.kernel->grid, part.kernel->block}, launch.grid().phases->grid_waits[i]});
    shape.cooperative = shape.cooperative || launch.grid().phases->grid_waits[i];
    for (const auto& buffer : part.buffers)
      if (!contains(buffers, buffer)) buffers.push_back(buffer);
  }
  return cuda::emit_phases(name, phases, buffers, shape, unaligned, numbers);
}

/// Products are rounded with sums as expressions say where the options fix the order of sums.
void fuse_products(CompileState& state, std::size_t index) {
  if (!state.mapping.batch_invariant) return;
  for (auto& part : state.launches[index].grid().kernels)
    part.body = std::make_shared<Halide::Internal::Stmt>(halide_bridge::fuse_products(*part.body));
}

void emit(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  const auto name = launch_name(state, index);
  const auto unaligned = unaligned_names(state.arguments);
  const auto numbers = run_numbers(state);
  launch.grid().texts.clear();
  if (launch.grid().phases) launch.grid().texts.push_back(told(emit_whole(launch, name, unaligned, numbers), state));
  for (std::size_t k = 0; !launch.grid().phases && k < launch.grid().kernels.size(); ++k) {
    const auto& part = launch.grid().kernels[k];
    const cuda::KernelShape shape{part.kernel->grid, part.kernel->block, part.kernel->blocks_per_multiprocessor, false,
                                  polyhedral::used_blocks(*part.kernel, size_parameters(state))};
    launch.grid().texts.push_back(told(cuda::emit_kernel(launch.grid().kernels.size() > 1 ? str(name, "_", k) : name,
                                                         *part.body, part.buffers, shape, unaligned, numbers),
                                       state));
  }
  for (const auto& text : launch.grid().texts) check_limits(text, *state.target.grid);
}

std::string print_emitted(const LaunchState& launch) {
  std::string text;
  for (const auto& kernel : launch.grid().texts) text += kernel.text;
  return text;
}

void verify_generated(const CompileState&, const LaunchState& launch) {
  for (const auto& part : launch.grid().kernels) polyhedral::verify_ast(*part.ast, part.kernel->scop);
}

void verify_raised(const CompileState& state, const LaunchState& launch) {
  for (const auto& part : launch.grid().kernels)
    halide_bridge::verify_body(*part.body, *part.ast, part.kernel->scop, *state.program,
                               {part.kernel->grid, part.kernel->block, part.kernel->warp_size});
}

void verify_emitted(const CompileState& state, const LaunchState& launch) {
  for (std::size_t k = 0; !launch.grid().phases && k < launch.grid().kernels.size(); ++k)
    polyhedral::verify_used_blocks(*launch.grid().kernels[k].kernel, size_parameters(state),
                                   launch.grid().texts.at(k).shape.used);
}

LaunchState start_launch() {
  LaunchState launch;
  launch.on = GridLaunch();
  return launch;
}

std::vector<LaunchStage> all_stages() {
  auto stages = scheduling_stages();
  auto kernels = kernel_stages();
  stages.insert(stages.end(), kernels.begin(), kernels.end());
  stages.push_back({"generate", Phase::Code, generate, print_generated, verify_generated});
  stages.push_back({"raise", Phase::Code, raise, print_body, verify_raised});
  stages.push_back({"fuse_products", Phase::Code, fuse_products, print_body});
  stages.push_back({"emit", Phase::Code, emit, print_emitted, verify_emitted});
  return stages;
}

void build(CompileState& state) {
  std::vector<cuda::KernelText> texts;
  for (const auto& launch : state.launches)
    texts.insert(texts.end(), launch.grid().texts.begin(), launch.grid().texts.end());
  state.device =
      cuda::build_device_code(texts, state.target.grid->architecture, state.cancellation, contraction_of(state));
}

}  // namespace

const BackEnd& cuda_back_end() {
  static const auto& back_end = *new BackEnd{.schedule_options = schedule_options,
                                             .fusion_criterion = fusion_criterion,
                                             .start_launch = start_launch,
                                             .stages = all_stages(),
                                             .final_stages = {{.name = "build", .step = "build", .run = build}},
                                             .aligned_anywhere = false,
                                             .runs_in_place = false,
                                             .binds_constants = false,
                                             .splits_residues = false,
                                             .runs_reductions_in_order = false,
                                             .machine = cuda_machine()};
  return back_end;
}

}  // namespace tc::engine
