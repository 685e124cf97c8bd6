#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "tc/base/contraction.h"
#include "tc/engine/compile/compile_options.h"
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

/// The state of a compile that its stages transform. Included by .cpp files of tc/engine and by tests that plant
/// faults.
namespace tc::engine {

struct BackEnd;

/// The state of a cluster between the passes of a CPU.
struct ClusterProgress {
  polyhedral::CpuCluster cluster;
  unsigned long quota = 0;  ///< isl operations that are left to it; 0: no limit
  bool left_alone = false;  ///< the quota ran out: its loops stay as scheduled
};

/// State of a launch on a CPU: one function, with outer loops that run on a pool of threads.
struct CpuLaunch {
  std::optional<polyhedral::Mapping> mapping;  ///< choose: by rules or a search; absent if nothing can be mapped
  std::vector<polyhedral::Nest> nests;         ///< choose, nest: of each cluster, realised by the passes
  std::vector<ClusterProgress> clusters;       ///< choose, then each pass; removed after map
  std::optional<polyhedral::Scop> unmapped;    ///< choose: the input of the first pass; removed after map
  std::optional<polyhedral::Ast> ast;          ///< generate
  std::set<std::string> streamed;              ///< raise: tensors that are stored past the caches
  std::shared_ptr<const Halide::Internal::Stmt> body;  ///< raise, then each pass over statements
  cpu::ObjectCode code;                                ///< emit
};

/// The state of a kernel for which its invariants were last proved, after passes of each kind (polyhedral::GridLaws).
struct ProvedKernel {
  std::optional<polyhedral::Scop> program;
  std::optional<polyhedral::GridKernel> unsynchronised, whole;
};

/// One kernel of a launch for a grid of threads.
struct KernelState {
  std::optional<polyhedral::GridCluster> cluster;      ///< split_kernels, then each pass; removed after map
  unsigned long quota = 0;                             ///< isl operations that are left to its passes; 0: no limit
  std::optional<polyhedral::GridKernel> kernel;        ///< map
  std::optional<polyhedral::Ast> ast;                  ///< generate
  std::shared_ptr<const Halide::Internal::Stmt> body;  ///< raise: block_x ... thread_z are free variables
  std::vector<std::string> buffers;                    ///< raise: buffers of the kernel, in order
  std::shared_ptr<ProvedKernel> proved = std::make_shared<ProvedKernel>();  ///< a note for the checks of invariants
};

/// The kernels of a launch as phases of one cooperative kernel, whose blocks are all resident at once.
struct PhasesState {
  std::vector<bool> grid_waits;  ///< after each phase, do all blocks wait for each other?
  std::int64_t threads = 1;      ///< of a block
  int blocks_per_multiprocessor = 1;
};

/// State of a launch on a grid of threads: kernels that run in order.
/// The nests of a cluster on a grid.
struct GridNests {
  polyhedral::NestSpace space;
  polyhedral::Nest nest;   ///< that passes realise
  polyhedral::Nest plain;  ///< with neither buffers nor register tiles, for when a quota runs out
};

struct GridLaunch {
  std::optional<polyhedral::GridMapping> mapping;  ///< choose: what rules and searches decide
  std::vector<GridNests> nests;                    ///< choose, nest: of each cluster
  std::vector<polyhedral::Scop> parts;             ///< split_kernels: the program of each kernel
  std::vector<KernelState> kernels;                ///< split_kernels and on
  std::optional<PhasesState> phases;               ///< map, for a cooperative kernel
  std::vector<cuda::KernelText> texts;             ///< emit: the kernels in launch order
};

/// The state of one launch. Each member names the stage that fills it.
struct LaunchState {
  std::shared_ptr<polyhedral::Context> context;        ///< extract: of all isl objects below
  std::optional<polyhedral::Scop> scop;                ///< extract, then schedule, then the stages of mapping
  std::optional<polyhedral::Scop> plain;               ///< in program order, for when a quota runs out
  std::optional<polyhedral::Dependences> dependences;  ///< depend; absent: quota exhausted
  bool has_own_schedule = false;                       ///< schedule: it was given, not computed
  std::vector<polyhedral::ClusterView> clusters;       ///< gather_coincident, collapse: of `scop`, before it is mapped
  bool has_own_mapping = false;                        ///< choose: it was given, not computed
  std::vector<std::string> buffers;                    ///< raise: buffers of the function, or of all kernels, in order
  std::variant<CpuLaunch, GridLaunch> on;              ///< by the back end
  /// A note of verify_scheduled(): the scop for which its invariants were last proved.
  std::shared_ptr<std::optional<polyhedral::Scop>> proved = std::make_shared<std::optional<polyhedral::Scop>>();

  /// The state specific to a CPU or to a grid; throws for a launch of the other kind.
  CpuLaunch& cpu() { return std::get<CpuLaunch>(on); }
  const CpuLaunch& cpu() const { return std::get<CpuLaunch>(on); }
  GridLaunch& grid() { return std::get<GridLaunch>(on); }
  const GridLaunch& grid() const { return std::get<GridLaunch>(on); }
};

struct CompileState {
  const Function* function = nullptr;
  std::vector<Argument> arguments;
  lang::SizeMap sizes;
  lang::SizeRanges symbolic;            ///< the sizes that each run chooses
  std::vector<std::string> run_values;  ///< values that such a run passes, in order: the symbolic sizes, and strides
  Target target;
  const BackEnd* back_end = nullptr;  ///< of the target
  polyhedral::MappingOptions mapping;
  options::Construction construct = options::Construction::Checked;  ///< the policy that chooses mappings of a CPU
  std::optional<polyhedral::MappingOptions> nearest;  ///< a further start of a construction: nearest_mapping()
  Cancellation cancellation;

  std::shared_ptr<halide_bridge::Program> program;  ///< lower
  std::vector<std::string> rewrites;                ///< lower: the passes that changed the program
  std::vector<LaunchState> launches;
  std::optional<cuda::DeviceCode> device;  ///< build, for a GPU
  std::vector<std::string> fallbacks;
  std::function<void(polyhedral::Context*)> watch;  ///< called with the active isl context, and with null at the end
};

/// The products that are fused with sums: exactly the products marked in expressions if the order of sums is fixed.
inline Contraction contraction_of(const CompileState& state) {
  return state.mapping.batch_invariant ? Contraction::AsWritten : Contraction::Found;
}

/// The state in which the stages of a compile of \p function begin. Throws ArgumentError for tensors that do not fit.
CompileState start_compile(const Function& function, const std::vector<TensorSpec>& inputs,
                           const std::vector<TensorSpec>& outputs, const CompileOptions& options);

/// Groups of stages, so that a part of a compile can be run alone. After Choose mappings are chosen, and after Map
/// they are carried out.
enum class Phase : std::uint8_t { Lower, Schedule, Choose, Map, Code };

/// The stages of a compile of \p function for \p arguments, up to those of phase \p last, which is Choose or Map, and
/// \p then on their result, all within the limits of \p options. \p then must own all data that it accesses, see
/// run_supervised(). Throws as
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

/// The stages that run once for all launches of \p state, after their code is generated.
std::vector<Stage<CompileState>> final_stages(const CompileState& state);

/// The names of all stages of a compile for \p target, in order.
std::vector<std::string> stage_names(const Target& target);

}  // namespace tc::engine
