#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tc/engine/compile/compile.h"
#include "tc/polyhedral/core/dependences.h"
#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/generate/generate.h"
#include "tc/polyhedral/map/mapping.h"
#include "tc/polyhedral/map_grid/map_to_grid.h"

namespace Halide::Internal {
struct Stmt;
}
namespace tc::halide_bridge {
struct Program;
}

/// What the stages of a compile work on. Included by .cpp files of tc/engine and by tests that plant faults.
namespace tc::engine {

/// One kernel of a launch for a grid of threads.
struct KernelState {
  polyhedral::GridKernel kernel;                       ///< map
  std::optional<polyhedral::Ast> ast;                  ///< generate
  std::shared_ptr<const Halide::Internal::Stmt> body;  ///< raise: block_x ... thread_z are free variables
  std::vector<std::string> buffers;                    ///< raise: what the kernel takes, in order
};

/// How the kernels of a launch are phases of one, whose blocks are all there at once.
struct PhasesState {
  std::vector<bool> grid_waits;  ///< behind each, all blocks wait for each other
  std::int64_t threads = 1;      ///< of a block
  int blocks_per_processor = 1;
};

/// One launch on its way to machine code. A stage fills the members it is named after. For a grid of threads, `kernels`
/// are run in order in place of `ast` and `body`.
struct LaunchState {
  std::shared_ptr<polyhedral::Context> context;        ///< extract: of all isl objects below
  std::optional<polyhedral::Scop> scop;                ///< extract, then schedule, then map
  std::optional<polyhedral::Scop> plain;               ///< in program order, for when a quota runs out
  std::optional<polyhedral::Dependences> dependences;  ///< depend; absent: quota exhausted
  bool has_own_schedule = false;                       ///< schedule: it was given, not computed
  std::optional<polyhedral::Mapping> mapping;          ///< map
  std::optional<polyhedral::Ast> ast;                  ///< generate
  std::shared_ptr<const Halide::Internal::Stmt> body;  ///< raise
  std::vector<std::string> buffers;                    ///< raise: what the function, or all kernels, take, in order
  std::optional<polyhedral::GridMapping> grid;         ///< map, for a grid
  std::vector<KernelState> kernels;                    ///< map, generate, raise, for a grid
  std::optional<PhasesState> phases;                   ///< map, for a cooperative kernel
  std::vector<cuda::KernelText> texts;                 ///< emit: what is started, in order, for a grid
  cpu::ObjectCode code;                                ///< emit
};

struct CompileState {
  const Function* function = nullptr;
  std::vector<Argument> arguments;
  lang::SizeMap sizes;
  Target target;
  polyhedral::MappingOptions mapping;
  Cancellation cancellation;

  std::shared_ptr<halide_bridge::Program> program;  ///< lower
  std::vector<LaunchState> launches;
  cuda::DeviceCode device;  ///< build, for a GPU
  std::vector<std::string> fallbacks;
  std::function<void(polyhedral::Context*)> watch;  ///< told which isl context is at work, null at the end
};

/// The stages of a compile of \p function for \p arguments, up to `map`, and \p then on what they made, all within the
/// limits of \p options: \p then owns what it touches, see run_supervised(). Throws as compile() does.
CompileState map_launches(const std::shared_ptr<const Function>& function, const std::vector<Argument>& arguments,
                          const CompileOptions& options, const std::function<void(CompileState&)>& then = {});

/// The kernels of all launches as machine code.
Stage<CompileState> build_stage();

/// lower
const std::vector<Stage<CompileState>>& lower_stages();

/// extract, depend, schedule, map, generate, raise, emit for launch \p index of \p count. Names carry ".<index>" where
/// there are several launches.
std::vector<Stage<CompileState>> launch_stages(std::size_t index, std::size_t count);

}  // namespace tc::engine
