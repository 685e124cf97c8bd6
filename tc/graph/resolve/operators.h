#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tc/base/dtype.h"
#include "tc/graph/resolve/resolve_layouts.h"

/// Operators that know no layouts, and routines of libraries that do: the interface of VTensor.
namespace tc::graph {

/// A tensor as an operator sees it: a type and named dimensions, no layout.
struct VirtualTensor {
  std::string name;
  DType type = DType::Float32;
  std::string dims;  ///< a letter each: "NCHW"
  layout::Extents extents;
  bool constant = false;  ///< converted once: conversions of it cost nothing

  /// The extent of dimension \p dim. Throws ArgumentError for one that it does not have.
  std::int64_t size(char dim) const;
  std::size_t ndimensions() const { return extents.size(); }
};

/// A tensor as a routine sees it: it says in which layout it takes or gives it.
class PhysicalTensor {
 public:
  /// \p produced: the layout that the tensor has; none of an output.
  PhysicalTensor(const VirtualTensor& tensor, std::optional<Layout> produced)
      : tensor_(&tensor), produced_(std::move(produced)) {}

  std::int64_t size(char dim) const { return tensor_->size(dim); }
  std::size_t ndimensions() const { return tensor_->ndimensions(); }
  const VirtualTensor& tensor() const { return *tensor_; }
  const std::optional<Layout>& produced() const { return produced_; }

  /// The layout that the routine needs, or that any will do. Throws InternalError where it has been said.
  void require(const Layout& layout);
  void require(layout::AnyLayout);
  /// Nothing for any; any, too, where nothing was said.
  const std::optional<Layout>& required() const { return required_; }

 private:
  const VirtualTensor* tensor_;
  std::optional<Layout> produced_, required_;
  bool said_ = false;
};

/// An operator of a program and its tensors, by their numbers.
struct OperatorCall {
  std::string op;
  std::vector<std::size_t> inputs, outputs;
  std::map<std::string, std::int64_t> attributes = {};
  std::vector<Layout> candidates = {};  ///< of an element-wise one, see LayoutNode
  bool element_wise = false;            ///< its candidates are those of candidates_of(), beside `candidates`
};

/// Calls in order, each behind those whose results it reads.
struct OperatorProgram {
  std::vector<VirtualTensor> tensors;
  std::map<std::size_t, Layout> entry;  ///< layouts of inputs; others are in the layout of their dimensions
  std::vector<OperatorCall> calls;
};

/// What a routine works on.
class Invocation {
 public:
  std::vector<PhysicalTensor> inputs, outputs;

  Invocation(const OperatorCall& call, bool partial) : call_(&call), partial_(partial) {}
  const OperatorCall& call() const { return *call_; }
  /// \p otherwise where the call does not give it.
  std::int64_t attribute(const std::string& name, std::int64_t otherwise) const;
  /// Everything that layouts depend on has been said: partial evaluation of a call ends here, a run goes on.
  void tag() const;

 private:
  const OperatorCall* call_;
  bool partial_;
};

/// A library: one description that all its routines share.
struct LibraryDescription {
  std::string name;
  int priority = 0;                                             ///< routines of the highest are tried first
  std::map<std::string, Layout> layouts = {};                   ///< its own words for them
  std::function<Layout(const PhysicalTensor&)> guideline = {};  ///< what it likes, asked while evaluating
};

/// A routine of a library for an operator.
struct Routine {
  std::string device, op, library;
  std::function<bool(const Invocation&)> accepts;                      ///< null: everything
  std::function<void(Invocation&, const LibraryDescription&)> invoke;  ///< requires layouts, tags, runs the kernel
};

/// The routines there are, and which computes a call.
class Dispatcher {
 public:
  /// Adds \p library, or gives it another description.
  void add(LibraryDescription library) { libraries_[library.name] = std::move(library); }
  /// Throws OptionsError for a library that is not there.
  void add(Routine routine);

  /// The first routine for \p device, by priority, that accepts \p invocation. Throws OptionsError that names operator and
  /// device.
  const Routine& choose(const std::string& device, const Invocation& invocation) const;
  const LibraryDescription& library(const std::string& name) const { return libraries_.at(name); }

 private:
  std::map<std::string, LibraryDescription> libraries_;
  std::vector<Routine> routines_;
};

/// What the calls of a program need, and who computes them.
struct EvaluatedProgram {
  LayoutGraph graph;
  std::vector<std::string> libraries;  ///< of each call
};

/// The layouts that all operands of \p call, element by element, may be in, by the rule of VTensor: those in which its inputs are
/// \p produced, channels last, and that of the dimensions themselves. Inputs with fewer dimensions are broadcast: they do not count, but
/// a layout in which one of them would have holes, being cut in blocks that are not whole, is none.
///
///   X(N,C,H,W) in NCHW16c, b(C)      C = 32: NCHW16c, NHWC, NCHW      C = 20: NHWC, NCHW
std::vector<Layout> candidates_of(const OperatorProgram& program, const OperatorCall& call,
                                  const std::vector<Layout>& produced);

/// Evaluates \p program for \p device as far as layouts depend on it: every routine runs up to its tag, no kernel runs. A tensor
/// weighs its bytes where \p by_bytes is set, else 1. Throws as Dispatcher::choose; InternalError for a routine that does not
/// tag.
EvaluatedProgram evaluate_partially(const OperatorProgram& program, const Dispatcher& dispatcher,
                                    const std::string& device, bool by_bytes = false);

}  // namespace tc::graph
