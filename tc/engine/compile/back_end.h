#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tc/engine/compile/pipeline.h"
#include "tc/engine/machine/machine_kind.h"
#include "tc/polyhedral/schedule/fusion_criterion.h"

namespace tc::engine {

/// One stage of a launch: a row of the list of a back end. Functions take the number of the launch; only `run` is
/// required. A launch without statements skips all stages.
struct LaunchStage {
  const char* name;
  Phase phase;
  std::function<void(CompileState&, std::size_t)> run;
  std::function<std::string(const LaunchState&)> print = {};                       ///< its result as a text
  std::function<void(const CompileState&, const LaunchState&)> verify = {};        ///< the invariants after it
  std::function<void(CompileState&, std::size_t, const std::string&)> parse = {};  ///< takes a text as the result
};

/// The stages and properties of one kind of target.
struct BackEnd {
  polyhedral::MappingOptions (*schedule_options)(const CompileState&);  ///< how launches are scheduled
  /// Decides which clusters of the scop are profitable; null: all that the schedule options allow.
  std::unique_ptr<polyhedral::FusionCriterion> (*fusion_criterion)(const CompileState&, const polyhedral::Scop&);
  LaunchState (*start_launch)();                  ///< a launch with the state of this back end
  std::vector<LaunchStage> stages;                ///< of each launch, from `extract` to `emit`
  std::vector<Stage<CompileState>> final_stages;  ///< of all launches together, after these
  bool aligned_anywhere;                          ///< code does not depend on the alignment of arguments
  bool runs_in_place;                             ///< an output of a call may be one of its inputs
  bool binds_constants;                           ///< its code reads the memory that constants are in
  bool splits_residues;                           ///< loops follow strides of results (split_residues.h)
  bool runs_reductions_in_order;  ///< one thread is fast enough for a running reduction (running_reductions.h)
  const MachineKind& machine;     ///< that its code is for
};

/// The back end for \p target. This is the only place that depends on the kind of a target.
const BackEnd& back_end_of(const Target& target);

/// One function a launch, whose outer loops run on a pool of threads; machine code by LLVM.
const BackEnd& cpu_back_end();

/// Several kernels a launch, run in order; CUDA C++ as text.
const BackEnd& cuda_back_end();

/// The tensors of \p scop in memory that \p used names.
std::vector<std::string> buffers_of(const polyhedral::Scop& scop, const std::set<std::string>& used);

}  // namespace tc::engine
