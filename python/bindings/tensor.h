#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>

#include "tc/base/dlpack.h"
#include "tc/base/tensor.h"

namespace tc::python {

/// Which library a tensor comes from: decides who makes outputs. Array: a library of the array API standard (JAX, CuPy),
/// whose arrays name their module; Other: tensors that have `__dlpack__` and nothing else.
enum class Framework : std::uint8_t { None, NumPy, Torch, Array, Other };

constexpr int max_rank = 32;

/// A tensor argument of a Python call, borrowed for its duration. Strides that cannot matter are as engine::normalised
/// gives them.
class Borrowed {
 public:
  Borrowed() = default;
  ~Borrowed() { release(); }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;

  /// Takes the tensor \p object: torch and others by DLPack, NumPy by the buffer protocol; no data is copied.
  /// \p name names it in errors. Throws ArgumentError for what is no tensor, in the memory of neither a CPU nor a CUDA
  /// device.
  void take(PyObject* object, const char* name);
  /// Takes the Python number \p object as a tensor of rank 0 and type \p type. Throws ArgumentError when the value does
  /// not fit it.
  void take_number(PyObject* object, DType type, const char* name);
  /// Makes a number a tensor on \p device, by a kernel in torch's current stream; \p name names it in errors.
  void move_number(int device, const char* name);
  bool is_number() const { return number_source_ != nullptr; }

  bool matches(const TensorSpec& spec) const;
  std::uint64_t hash(std::uint64_t seed) const;
  TensorView view() const;

  DType dtype = DType::Float32;
  int rank = 0;
  Framework framework = Framework::None;
  PyObject* object = nullptr;   ///< the tensor itself, which outlives the call; null for a number
  PyObject* library = nullptr;  ///< of Framework::Array: its module, which is never freed
  int device = on_cpu;          ///< the CUDA device whose memory it is in
  bool read_only = false;
  bool requires_grad = false;  ///< torch is asked for its gradient
  std::int64_t shape[max_rank];
  std::int64_t strides[max_rank];
  void* data = nullptr;

 private:
  void take_dlpack(PyObject* object, const char* name);
  void take_buffer(PyObject* object, const char* name);
  void release();
  void normalise();

  Py_buffer buffer_{};
  bool has_buffer_ = false;
  PyObject* source_ = nullptr;               ///< what keeps the memory: a capsule, or a tensor of our making
  std::shared_ptr<const DLTensor> managed_;  ///< in the capsule
  PyObject* number_source_ = nullptr;        ///< the number itself, which outlives the call
  alignas(8) unsigned char number_[8];
  friend struct BorrowedAccess;
};

/// Is \p object a number and no tensor? NumPy's scalars are numbers.
bool is_number(PyObject* object);

/// Is \p object a tensor of torch? False for TensorSpecs and for tensors of others.
bool is_of_torch(PyObject* object);

/// Is it of a class of its own that sees what is done with it, as fake tensors do?
bool watches_itself(PyObject* object);

/// Does torch record gradients in this thread? Only for processes that have imported torch.
bool is_grad_enabled();

/// The spec of a tensor or of a TensorSpec.
TensorSpec spec_of(pybind11::handle object, const char* name);

/// An uninitialised dense tensor of the library of \p maker (null: NumPy's; a memoryview where that is not installed) on
/// \p device; on a CPU, for a library of the array API, memory that handed_over() makes an array of. Throws ArgumentError
/// for a type or a device that the library lacks, ResourceError for want of memory.
pybind11::object allocate(const Borrowed* maker, const TensorSpec& spec, PyObject* shape, int device = on_cpu);

/// An object that owns uninitialised dense memory of a CPU for \p spec and gives it by `__dlpack__`. Throws ResourceError
/// for want of memory.
pybind11::object allocate_memory(const TensorSpec& spec);

/// The output \p made by allocate(), which has been written, as the library of \p maker has it. Throws ArgumentError where
/// the library refuses it.
pybind11::object handed_over(const Borrowed* maker, pybind11::object made);

}  // namespace tc::python
