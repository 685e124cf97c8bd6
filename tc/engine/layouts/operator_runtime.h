#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tc/engine/layouts/layout_plan.h"
#include "tc/engine/layouts/operator_kernels.h"

namespace tc::engine {

/// Runs operators that know no layouts: call by call, or whole programs whose layouts were chosen together. Thread-safe.
///
///   OperatorRuntime runtime({"onednn", "own"});
///   auto y = runtime.call("relu", {runtime.call("conv", {x, k}, {{"stride", 2}})});      normal mode
///   auto plan = runtime.plan(program, LayoutChoice::Both);                                partial evaluation, then
///   auto results = plan->run({x});                                                        as often as needed
class OperatorRuntime {
 public:
  /// Throws as make_dispatcher().
  explicit OperatorRuntime(const std::vector<std::string>& libraries = {"own"}, const CompileOptions& options = {});

  /// To add libraries and routines, before calls.
  Dispatcher& dispatcher() { return dispatcher_; }
  const std::shared_ptr<OperatorKernels>& kernels() const { return kernels_; }

  /// The result of operator \p op, one of operators(), in the layout that its routine gives it. Inputs in other layouts than the routine
  /// requires are converted first. Throws as OperatorProgram::call and Dispatcher::invoke.
  VirtualTensor call(const std::string& op, const std::vector<VirtualTensor>& inputs,
                     const Attributes& attributes = {});
  /// \p tensor in \p layout: itself if it is already, else a copy; the same copy of a constant each time.
  VirtualTensor converted(const VirtualTensor& tensor, const Layout& layout);
  /// Conversions that call() and converted() have made, but for constants.
  std::size_t conversions() const { return conversions_; }

  /// \p program made ready to run, with the layouts that \p choice finds. Throws as make_plan().
  std::shared_ptr<const LayoutPlan> plan(const OperatorProgram& program, LayoutChoice choice) const;

 private:
  std::shared_ptr<OperatorKernels> kernels_;
  Dispatcher dispatcher_;
  std::atomic<std::size_t> conversions_{0};
  ForkMutex mutex_;
  std::set<std::shared_ptr<const void>> held_;  ///< constants of calls, as libraries keep them
};

}  // namespace tc::engine
