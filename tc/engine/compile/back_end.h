#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tc/engine/compile/pipeline.h"
#include "tc/polyhedral/schedule/fusion_criterion.h"

namespace tc::engine {

/// What the stages of a launch do for one kind of target, from the schedule to the text or code of it. Steps take the
/// number of the launch; prints give the result of the step beside them.
struct BackEnd {
  polyhedral::MappingOptions (*schedule_options)(const CompileState&);
  /// Which clusters of the scop pay; null: all that the schedule options allow.
  std::unique_ptr<polyhedral::FusionCriterion> (*fusion_criterion)(const CompileState&, const polyhedral::Scop&);
  void (*map)(CompileState&, std::size_t);
  std::string (*print_mapped)(const LaunchState&);
  void (*generate)(CompileState&, std::size_t);
  std::string (*print_generated)(const LaunchState&);
  void (*raise)(CompileState&, std::size_t);
  std::string (*print_body)(const LaunchState&);
  void (*emit)(CompileState&, std::size_t);
  std::string (*print_emitted)(const LaunchState&);
  void (*verify)(const LaunchState&);            ///< the laws of what was mapped
  void (*verify_generated)(const LaunchState&);  ///< the laws of the loop nests (verify_ast.h)
  /// The laws of raised statements (verify_body.h).
  void (*verify_body)(const LaunchState&, const halide_bridge::Program&);
};

/// One function a launch, whose outer loops run on a pool of threads; machine code by LLVM.
const BackEnd& cpu_back_end();

/// Several kernels a launch, run in order; CUDA C++ as text.
const BackEnd& cuda_back_end();

/// The tensors of \p scop in memory that \p used names.
std::vector<std::string> buffers_of(const polyhedral::Scop& scop, const std::set<std::string>& used);

}  // namespace tc::engine
