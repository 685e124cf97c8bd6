#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tc/engine/layouts/operator_kernels.h"
#include "tc/engine/run/workspace.h"

namespace tc::engine {

/// How the layouts of a program are chosen.
enum class LayoutChoice : std::uint8_t {
  Asked,        ///< each call gets what its routine asks for, by a conversion for each input
  Hoisted,      ///< then conversions that all consumers of a tensor ask for become one (LHO of the paper)
  ElementWise,  ///< element-wise calls choose so that conversions are few (EWO of the paper)
  Both,         ///< ElementWise, then Hoisted
  Shared,       ///< element-wise calls choose, and each conversion of a tensor is made once
  Greedy,       ///< node by node, as calls in normal mode do that know none behind them
  Measured,     ///< libraries and layouts of all calls, and conversions, by measured seconds (measured_alternatives.h)
};
/// "asked", "hoisted", "element-wise", "both", "shared", "greedy", "measured".
std::string to_string(LayoutChoice choice);
/// The inverse. Throws OptionsError that lists them.
LayoutChoice parse_layout_choice(const std::string& text);

/// A call or a conversion of a plan: its kernel runs on these buffers, inputs before outputs.
struct PlanStep {
  std::string name;     ///< of the operator; "convert"
  std::string library;  ///< that was chosen; "" for conversions
  bool conversion = false;
  std::vector<std::size_t> buffers;
  Kernel kernel;
};

/// A tensor in one layout, tensor.produced, while a plan runs.
struct PlanBuffer {
  enum class Place : std::uint8_t { Input, Result, Constant, Workspace };
  VirtualTensor tensor;  ///< of a constant with its elements
  Place place = Place::Workspace;
  std::size_t index = 0;  ///< among inputs or results; the offset in the workspace
};

/// A program made ready to run: its calls and conversions in order, and a plan of the memory between them, in which tensors that do
/// not live at one time take turns. Immutable; any number of threads may run it at once.
class LayoutPlan {
 public:
  LayoutPlan(std::vector<PlanStep> steps, std::vector<PlanBuffer> buffers);

  const std::vector<PlanStep>& steps() const { return steps_; }
  const std::vector<PlanBuffer>& buffers() const { return buffers_; }
  std::size_t workspace_bytes() const { return workspace_bytes_; }
  /// Conversions in each run.
  std::size_t conversions() const;
  /// A line for each step: what runs, on which tensors, in which layouts.
  std::string to_string() const;

  /// The results, in the layouts in which they are produced, for \p inputs, the tensors of the program that are neither written by a call
  /// nor constant, in their order and their layouts. \p seconds, if not null, becomes the time of each step. Throws ArgumentError
  /// for inputs that do not fit.
  std::vector<VirtualTensor> run(const std::vector<VirtualTensor>& inputs,
                                 std::vector<double>* seconds = nullptr) const;

  double choosing_ms = 0;  ///< partial evaluation, or measuring, and choice
  double making_ms = 0;    ///< kernels, and constants converted

 private:
  void place_buffers();
  void check(const std::vector<VirtualTensor>& inputs) const;

  std::vector<PlanStep> steps_;
  std::vector<PlanBuffer> buffers_;
  std::size_t workspace_bytes_ = 0;
  mutable std::unique_ptr<WorkspacePool> pool_;
};

/// \p program in the layouts that \p choice finds, for the routines of \p dispatcher; what no call reads are its results. Constants are
/// converted here. Throws as evaluate_partially(), choose_layouts() and the routines.
std::shared_ptr<const LayoutPlan> make_plan(const OperatorProgram& program, LayoutChoice choice,
                                            const Dispatcher& dispatcher, OperatorKernels& kernels);

}  // namespace tc::engine
