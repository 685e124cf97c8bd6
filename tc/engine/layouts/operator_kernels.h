#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tc/base/fork.h"
#include "tc/engine/compile/compile_options.h"
#include "tc/engine/compile/price_function.h"
#include "tc/engine/layouts/operators.h"
#include "tc/graph/layout_alternatives.h"

namespace tc::engine {

/// The name of the library that is the compiler's own code.
extern const std::string own_code;

/// How a library computes defs: CompileOptions of its kernels.
struct KernelSource {
  std::string libraries = "none";
  bool interpret = false;
};

/// Kernels of operators and of conversions, each made once. They are made of the text of the operator alone, in the layouts of a call,
/// so each operator is described once for all libraries. Thread-safe.
class OperatorKernels {
 public:
  explicit OperatorKernels(CompileOptions options);

  /// The kernel of \p call, whose tensors have their layouts. A library keeps constants that have elements in a form of its own, which
  /// kernels of the same constants share. Throws as in_layouts() and compile().
  Kernel of_call(const Invocation& call, const KernelSource& source);
  /// The kernel that copies a tensor like \p tensor from its layout to \p to.
  Kernel of_conversion(const VirtualTensor& tensor, const Layout& to);
  /// The calls of a library for the operator of \p call on plain tensors.
  const CallsInLayouts& plain_calls(const Invocation& call, const KernelSource& source);
  /// Layouts of all operands of \p call that follow from the accesses of its text (graph::layout_alternatives), in blocks of \p block.
  static std::vector<graph::OperandLayouts> alternatives(const Invocation& call, std::int64_t block);
  /// \p tensor, a constant with its elements, in \p layout. Made once, and kept as long as these kernels.
  VirtualTensor converted_constant(const VirtualTensor& tensor, const Layout& layout);
  const Target& target() const { return options_.target; }

 private:
  using Constants = std::vector<std::shared_ptr<void>>;  ///< of the inputs; null for others
  std::shared_ptr<const Executable> make(const Invocation& call, const KernelSource& source) const;
  Kernel with_constants(const std::string& key, const std::shared_ptr<const Executable>& executable,
                        const Constants& constants);

  CompileOptions options_;
  ForkMutex mutex_;
  std::map<std::string, std::shared_ptr<const Executable>> executables_;
  std::map<std::string, Kernel> conversions_;
  std::map<std::pair<std::string, Constants>, std::weak_ptr<const library::PreparedCall>> held_;
  std::map<std::string, CallsInLayouts> plain_calls_;
  /// Of constants, by their memory (which these hold, so that its address names it), both layouts and extents.
  std::map<std::pair<std::shared_ptr<void>, std::string>, VirtualTensor> converted_;
};

/// Routines of all operators() by these libraries, the one to be preferred first:
///
///   "own"          the compiler's own code: takes activations in any layout, and constants in panels
///   "reference"    the interpreter of the text, on plain tensors
///   another name   that library of tc/library: the operators that it has a routine for, in the layouts that it likes
///
/// Throws OptionsError for a library that is not known, or not on this machine.
Dispatcher make_dispatcher(const std::vector<std::string>& libraries, const std::shared_ptr<OperatorKernels>& kernels);

/// The routine of \p library for operator \p op, by kernels of \p source: requires what the library's guideline says.
Routine text_routine(const std::string& op, const std::string& library, const KernelSource& source,
                     const std::shared_ptr<OperatorKernels>& kernels);

}  // namespace tc::engine
