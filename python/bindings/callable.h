#pragma once

#include <pybind11/pybind11.h>

#include <array>
#include <memory>
#include <vector>

#include "tc/cuda/device.h"
#include "tc/engine/engine.h"
#include "tensor.h"

namespace tc::python {

/// The tensors of one call, borrowed: room on the stack for the usual number.
class Operands {
 public:
  explicit Operands(std::size_t size) : size_(size), more_(size > few ? new Borrowed[size] : nullptr) {}
  Borrowed& operator[](std::size_t i) { return more_ ? more_[i] : few_[i]; }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t few = 8;
  std::size_t size_;
  std::array<Borrowed, few> few_;
  std::unique_ptr<Borrowed[]> more_;
};

/// What a call needs to know of the tensors a def takes: inputs, then outputs.
struct Signature {
  std::string function;
  std::size_t inputs = 0;
  std::vector<std::string> names;
  std::vector<DType> types;
  std::vector<int> ranks;
  std::vector<int> type_givers;  ///< of a generic def, for each input the one whose type a number takes; -1: its own

  void add(const std::string& name, DType type, int rank);
  std::size_t outputs() const { return names.size() - inputs; }
  /// Takes the inputs of a call, the tuple \p args, and the outputs where \p out is not None: a tensor, or a tuple of
  /// several. Python numbers are taken for rank 0. Throws ArgumentError.
  void take(Operands& operands, PyObject* args, PyObject* out) const;
  /// Takes the numbers among the inputs of a generic def, whose types are those of tensors that have been taken.
  void take_numbers(Operands& operands, PyObject* args) const;
  /// The name of the first of \p count operands whose gradient torch wants now; null if there is none.
  const char* recorded(Operands& operands, std::size_t count) const;
  /// The input whose library makes the outputs of a call; null: NumPy's. NumPy's arrays, numbers and tensors that have
  /// `__dlpack__` alone give way to torch, JAX and the like, of which there may be one: ArgumentError for two.
  const Borrowed* maker(Operands& operands) const;
};

/// Throws the ArgumentError of a call that records no gradient, of a tensor \p name that requires one.
[[noreturn]] void throw_requires_grad(const char* name);

/// A tensor that an executable holds, as Python gave it: torch counts what changes it.
struct HeldTensor {
  std::string name;
  pybind11::object tensor;
  long version = 0;

  HeldTensor(std::string name, pybind11::object tensor);
  bool has_changed() const;
};

/// An executable with what a call from Python needs at hand.
class Callable {
 public:
  /// \p held are the tensors of its constants.
  explicit Callable(std::shared_ptr<const engine::Executable> executable, std::vector<HeldTensor> held = {});

  const engine::Executable& executable() const { return *executable_; }
  /// Does it accumulate into what an output holds?
  bool reads_outputs() const { return reads_outputs_; }
  /// What becomes of tests of index tensors in calls from here on. Where they are kept, the next call of this executable
  /// throws what has failed by then.
  void set_outcome(engine::TestOutcome outcome) { outcome_ = outcome; }

  /// The same code for other sizes: engine::for_inputs().
  std::shared_ptr<Callable> for_inputs(const std::vector<TensorSpec>& inputs) const;
  /// Are \p operands of the types, shapes and strides compiled for, and on such a device, of a GPU as aligned?
  bool matches(Operands& operands, std::size_t begin, std::size_t end) const;
  /// Allocates outputs where \p out is null, runs without the interpreter's lock, returns the outputs.
  /// \p operands holds the inputs, and the outputs when \p out is given; all match.
  pybind11::object run(Operands& operands, PyObject* out) const;
  /// A checked call: takes the tensors \p args and `out`, which must be as compiled for.
  pybind11::object call(const pybind11::args& args, pybind11::handle out) const;
  /// The same with times; outputs that are not given are allocated first.
  engine::RunProfile profile(const pybind11::args& args, pybind11::handle out) const;

 private:
  /// Outputs of the library of \p maker, and their \p pointers: those that allocate() gives, of which hand_over() makes
  /// what the call returns.
  pybind11::object allocate_outputs(const Borrowed* maker, int device, void** pointers) const;
  pybind11::object hand_over(const Borrowed* maker, pybind11::object outputs) const;
  /// Where a GPU runs \p operands, the first \p count of which are given; throws ArgumentError unless they are there.
  cuda::Place place_for(Operands& operands, std::size_t count) const;
  /// Takes inputs, and outputs unless \p out is None; throws ArgumentError unless they are as compiled for.
  void take(Operands& operands, const pybind11::args& args, pybind11::handle out) const;
  /// Throws ArgumentError for a constant that has been changed.
  void check_constants() const;
  /// Throws ArgumentError where torch, which watches calls, would lose this one.
  void check_unwatched(const pybind11::args& args) const;
  /// Throws ArgumentError where torch would lose what it follows: a gradient, a tangent, a trace.
  void check_unrecorded(Operands& operands, std::size_t count, const pybind11::args& args) const;
  /// Tells torch that the tensors of \p out, which are the last of \p operands, have been changed.
  void count_changes(Operands& operands, PyObject* out) const;
  /// Throws ArgumentError where an output shares memory in a way that would change the result.
  void check_overlap(Operands& operands) const;

  std::shared_ptr<const engine::Executable> executable_;
  std::vector<HeldTensor> held_;
  Signature signature_;
  bool reads_outputs_ = false;
  engine::TestOutcome outcome_ = engine::TestOutcome::Awaited;
  std::vector<pybind11::object> shapes_;  ///< of the outputs, as tuples
  std::vector<ElementSpan> bytes_;        ///< of all arguments: lowest and end address, relative to the data
};

/// The tensors of a call of \p function in the order of its \p params: \p args, then those that \p named names. Throws
/// ArgumentError for a name that is no parameter's, and for a parameter given twice or not at all.
pybind11::args in_order(const std::string& function, const std::vector<std::string>& params, const pybind11::args& args,
                        const pybind11::kwargs& named);

}  // namespace tc::python
