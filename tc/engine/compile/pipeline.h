#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "tc/base/contraction.h"
#include "tc/engine/compile/compile.h"
#include "tc/polyhedral/core/dependences.h"
#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/generate/generate.h"
#include "tc/polyhedral/map/mapping.h"
#include "tc/polyhedral/map_cpu/cpu_cluster.h"
#include "tc/polyhedral/map_grid/grid_passes.h"

namespace Halide::Internal {
struct Stmt;
}
namespace tc::halide_bridge {
struct Program;
}

/// What the stages of a compile work on. Included by .cpp files of tc/engine and by tests that plant faults.
namespace tc::engine {

struct BackEnd;

/// A cluster of a launch on its way through the passes of a CPU.
struct ClusterProgress {
  polyhedral::CpuCluster cluster;
  unsigned long quota = 0;  ///< isl operations that are left to it; 0: no limit
  bool left_alone = false;  ///< the quota ran out: its loops stay as scheduled
};

/// What only a launch on a CPU has: one function, whose outer loops run on a pool of threads.
struct CpuLaunch {
  std::optional<polyhedral::Mapping> mapping;          ///< choose; absent where nothing can be mapped
  std::vector<ClusterProgress> clusters;               ///< choose, then each pass; gone behind map
  std::optional<polyhedral::Scop> unmapped;            ///< choose: as the first pass finds it; gone behind map
  std::optional<polyhedral::Ast> ast;                  ///< generate
  std::set<std::string> streamed;                      ///< raise: tensors that are stored past the caches
  std::shared_ptr<const Halide::Internal::Stmt> body;  ///< raise, then each pass over statements
  cpu::ObjectCode code;                                ///< emit
};

/// What the laws of a kernel last held for, behind passes of each kind (polyhedral::GridLaws).
struct ProvedKernel {
  std::optional<polyhedral::Scop> program;
  std::optional<polyhedral::GridKernel> unsynchronised, whole;
};

/// One kernel of a launch for a grid of threads.
struct KernelState {
  std::optional<polyhedral::GridCluster> cluster;      ///< split_kernels, then each pass; gone behind map
  unsigned long quota = 0;                             ///< isl operations that are left to its passes; 0: no limit
  std::optional<polyhedral::GridKernel> kernel;        ///< map
  std::optional<polyhedral::Ast> ast;                  ///< generate
  std::shared_ptr<const Halide::Internal::Stmt> body;  ///< raise: block_x ... thread_z are free variables
  std::vector<std::string> buffers;                    ///< raise: what the kernel takes, in order
  std::shared_ptr<ProvedKernel> proved = std::make_shared<ProvedKernel>();  ///< a note of the laws
};

/// How the kernels of a launch are phases of one, whose blocks are all there at once.
struct PhasesState {
  std::vector<bool> grid_waits;  ///< behind each, all blocks wait for each other
  std::int64_t threads = 1;      ///< of a block
  int blocks_per_multiprocessor = 1;
};

/// What only a launch on a grid of threads has: kernels that are run in order.
struct GridLaunch {
  std::optional<polyhedral::GridMapping> mapping;  ///< choose
  polyhedral::GridMapping plain;                   ///< choose: with neither buffers nor register tiles
  std::vector<polyhedral::Scop> parts;             ///< split_kernels: what each kernel runs
  std::vector<KernelState> kernels;                ///< split_kernels and on
  std::optional<PhasesState> phases;               ///< map, for a cooperative kernel
  std::vector<cuda::KernelText> texts;             ///< emit: what is started, in order
};

/// One launch on its way to machine code. A stage fills the members it is named after.
struct LaunchState {
  std::shared_ptr<polyhedral::Context> context;        ///< extract: of all isl objects below
  std::optional<polyhedral::Scop> scop;                ///< extract, then schedule, then the stages of mapping
  std::optional<polyhedral::Scop> plain;               ///< in program order, for when a quota runs out
  std::optional<polyhedral::Dependences> dependences;  ///< depend; absent: quota exhausted
  bool has_own_schedule = false;                       ///< schedule: it was given, not computed
  std::vector<polyhedral::ClusterView> clusters;       ///< gather_coincident, collapse: of `scop`, before it is mapped
  bool has_own_mapping = false;                        ///< choose: it was given, not computed
  std::vector<std::string> buffers;                    ///< raise: what the function, or all kernels, take, in order
  std::variant<CpuLaunch, GridLaunch> on;              ///< by the back end
  /// A note of verify_scheduled(): the scop that its laws last held for.
  std::shared_ptr<std::optional<polyhedral::Scop>> proved = std::make_shared<std::optional<polyhedral::Scop>>();

  /// What only a launch on a CPU, or on a grid, has; of a launch on the other it is not to be asked.
  CpuLaunch& cpu() { return std::get<CpuLaunch>(on); }
  const CpuLaunch& cpu() const { return std::get<CpuLaunch>(on); }
  GridLaunch& grid() { return std::get<GridLaunch>(on); }
  const GridLaunch& grid() const { return std::get<GridLaunch>(on); }
};

struct CompileState {
  const Function* function = nullptr;
  std::vector<Argument> arguments;
  lang::SizeMap sizes;
  lang::SizeRanges symbolic;            ///< of these, those that a run chooses
  std::vector<std::string> run_values;  ///< what such a run tells, in order: the symbolic sizes, and strides
  Target target;
  const BackEnd* back_end = nullptr;  ///< of the target
  polyhedral::MappingOptions mapping;
  options::Construction construct = options::Construction::Checked;  ///< what decides the mappings of a CPU
  std::optional<polyhedral::MappingOptions> nearest;  ///< from which a construction begins too: nearest_mapping()
  Cancellation cancellation;

  std::shared_ptr<halide_bridge::Program> program;  ///< lower
  std::vector<LaunchState> launches;
  std::optional<cuda::DeviceCode> device;  ///< build, for a GPU
  std::vector<std::string> fallbacks;
  std::function<void(polyhedral::Context*)> watch;  ///< told which isl context is at work, null at the end
};

/// Which products its machine code rounds with sums: those that expressions say where the order of sums is fixed.
inline Contraction contraction_of(const CompileState& state) {
  return state.mapping.batch_invariant ? Contraction::AsWritten : Contraction::Found;
}

/// The state in which the stages of a compile of \p function begin. Throws ArgumentError for tensors that do not fit.
CompileState start_compile(const Function& function, const std::vector<TensorSpec>& inputs,
                           const std::vector<TensorSpec>& outputs, const CompileOptions& options);

/// What the stages before, of and behind mapping do, by which a part of them can be run alone. Behind Choose mappings are
/// decided, behind Map carried out.
enum class Phase : std::uint8_t { Lower, Schedule, Choose, Map, Code };

/// The stages of a compile of \p function for \p arguments, up to those of phase \p last, which is Choose or Map, and \p then on
/// what they made, all within the limits of \p options: \p then owns what it touches, see run_supervised(). Throws as
/// compile() does.
CompileState map_launches(const std::shared_ptr<const Function>& function, const std::vector<Argument>& arguments,
                          const CompileOptions& options, const std::function<void(CompileState&)>& then = {},
                          Phase last = Phase::Map);

/// The first stage: lower.
const std::vector<Stage<CompileState>>& lower_stages();

/// The stages of launch \p index of \p state in the phases \p first to \p last. Names carry ".<index>" where there are
/// several launches.
std::vector<Stage<CompileState>> launch_stages(const CompileState& state, std::size_t index,
                                               Phase first = Phase::Schedule, Phase last = Phase::Code);

/// What is done once for all launches of \p state when they have their code.
std::vector<Stage<CompileState>> final_stages(const CompileState& state);

/// The names of all stages of a compile for \p target, in order.
std::vector<std::string> stage_names(const Target& target);

}  // namespace tc::engine
