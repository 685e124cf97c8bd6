#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tc/engine/layouts/virtual_tensor.h"
#include "tc/graph/resolve/resolve_layouts.h"

/// Calls of operators that know no layouts, and the routines that compute them.
namespace tc::engine {

using Attributes = std::map<std::string, std::int64_t>;

/// An operator of a program and its tensors, by their numbers.
struct OperatorCall {
  std::string op;
  std::vector<std::size_t> inputs, outputs;
  Attributes attributes = {};
  std::vector<Layout> candidates = {};  ///< of an element-wise one, see graph::LayoutNode
  bool element_wise = false;            ///< its candidates are those of candidates_of(), beside `candidates`

  /// \p otherwise if the call does not give it.
  std::int64_t attribute(const std::string& attribute, std::int64_t otherwise) const;
};

/// Calls in order, each behind those whose results it reads. Tensors that no call writes are inputs, or constants with their
/// elements.
struct OperatorProgram {
  std::vector<VirtualTensor> tensors;
  std::vector<OperatorCall> calls = {};

  /// Adds \p tensor, and returns its number.
  std::size_t add(VirtualTensor tensor);
  /// Adds a call of an operator of operators() on \p inputs, and returns the number of its result. Throws OptionsError for another
  /// operator, ArgumentError for inputs that it does not take.
  std::size_t call(const std::string& op, const std::vector<std::size_t>& inputs, Attributes attributes = {});
};

/// What a routine works on.
class Invocation {
 public:
  using AtTag = std::function<void(Invocation&)>;
  std::vector<PhysicalTensor> inputs, outputs;

  /// \p at_tag says what becomes of the call when its routine has said all that layouts depend on:
  ///
  ///   partial evaluation    records what was required, and ends the routine
  ///   normal mode           converts the inputs, and allocates the outputs
  ///   plan                  places them in the layouts that were chosen
  Invocation(const OperatorCall& call, AtTag at_tag) : call_(&call), at_tag_(std::move(at_tag)) {}
  const OperatorCall& call() const { return *call_; }
  /// Everything that layouts depend on has been said. Behind it, each tensor has its layout().
  void tag();
  bool tagged() const { return tagged_; }
  /// Inputs, then outputs.
  std::vector<PhysicalTensor*> operands();
  std::vector<const PhysicalTensor*> operands() const;

 private:
  const OperatorCall* call_;
  AtTag at_tag_;
  bool tagged_ = false;
};

/// Ends a routine at its tag: thrown by what is done at the tag.
struct EndAtTag {};

/// A routine made ready for the layouts of a call.
struct Kernel {
  /// Takes pointers of the operands in these layouts, inputs before outputs. May be run by any number of threads at once.
  std::function<void(void* const* operands)> run;
  std::string runs = {};                       ///< who computes: "own code", or a call of a library
  std::shared_ptr<const void> held = nullptr;  ///< constants as the library keeps them; null: none
};

/// A library as operators call it: one description that all its routines share.
struct OperatorLibrary {
  std::string name;
  int priority = 0;                            ///< routines of the highest are tried first
  std::map<std::string, Layout> layouts = {};  ///< its own words for them
  /// The layouts in which it likes the operands of a call, nothing for any. May be null: it has no wishes.
  std::function<std::vector<std::optional<Layout>>(const Invocation&)> guideline = {};

  /// Requires what the guideline says of all operands of \p call. A result with other dimensions than the first input is plain if it
  /// says nothing.
  void require(Invocation& call) const;
};

/// A routine of a library for an operator.
struct Routine {
  std::string device, op, library;
  std::function<bool(const Invocation&)> accepts;  ///< null: everything
  /// Requires layouts, tags, and makes its kernel ready for the layouts that the tensors then have.
  std::function<Kernel(Invocation&, const OperatorLibrary&)> invoke;
};

/// The routines there are, and which computes a call.
class Dispatcher {
 public:
  /// Adds \p library, or gives it another description.
  void add(OperatorLibrary library) { libraries_[library.name] = std::move(library); }
  /// Throws OptionsError for a library that is not there.
  void add(Routine routine);

  /// The first routine for \p device, by priority, that accepts \p invocation. Throws OptionsError that names operator and
  /// device.
  const Routine& choose(const std::string& device, const Invocation& invocation) const;
  const OperatorLibrary& library(const std::string& name) const { return libraries_.at(name); }
  /// All of them that accept it, by priority.
  std::vector<const Routine*> all(const std::string& device, const Invocation& invocation) const;
  /// Runs the first routine on \p invocation, or the first one of \p library if that is not "". Throws as choose(); InternalError for a
  /// routine that does not tag.
  Kernel invoke(const std::string& device, Invocation& invocation, const std::string& library = "") const;

 private:
  std::map<std::string, OperatorLibrary> libraries_;
  std::vector<Routine> routines_;
};

/// A way to compute a call: a library, and the layouts of all operands, inputs before outputs.
struct CallAlternative {
  std::string library;
  std::vector<Layout> operands;
  double seconds = 0;
};

/// What the calls of a program need, and who computes them.
struct EvaluatedProgram {
  graph::LayoutGraph graph;
  std::vector<std::string> libraries;                      ///< of each call
  std::vector<std::vector<CallAlternative>> alternatives;  ///< of each call; none: what its routine requires
};

/// Does input \p input of \p call count when layouts are chosen? Constants are converted once, to whatever is required; what an
/// element-wise call broadcasts is read as it is.
bool counts(const OperatorProgram& program, const OperatorCall& call, std::size_t input);

/// Channels behind all other dimensions of \p tensor.
Layout channels_last(const VirtualTensor& tensor);

/// The layouts that all operands of \p call, element by element, may be in, by the rule of VTensor: those in which its inputs may be
/// \p produced, channels last, and that of the dimensions themselves. Inputs with fewer dimensions are broadcast: they do not count, but
/// a layout in which one of them would have holes, being cut in blocks that are not whole, is none.
///
///   X(N,C,H,W) in NCHW16c, b(C)      C = 32: NCHW16c, NHWC, NCHW      C = 20: NHWC, NCHW
std::vector<Layout> candidates_of(const OperatorProgram& program, const OperatorCall& call,
                                  const std::vector<std::vector<Layout>>& produced);

/// Evaluates \p program for \p device as far as layouts depend on it: every routine runs up to its tag, no kernel is made. A tensor
/// weighs its bytes if \p by_bytes is set, else 1. A call for which \p alternatives, which may be null, gives some takes one of them. Throws as
/// Dispatcher::invoke.
EvaluatedProgram evaluate_partially(
    const OperatorProgram& program, const Dispatcher& dispatcher, const std::string& device, bool by_bytes = false,
    const std::function<std::vector<CallAlternative>(const OperatorCall&)>& alternatives = nullptr);

}  // namespace tc::engine
