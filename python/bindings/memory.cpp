#include <cstdlib>

#include "bind_class.h"
#include "bindings.h"
#include "tc/base/dlpack.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tensor.h"

/// Memory of outputs for libraries that take tensors by DLPack.
namespace py = pybind11;

namespace tc::python {
namespace {

/// XLA takes memory at such addresses without a copy.
constexpr std::size_t alignment = 64;

struct Memory {
  TensorSpec spec;
  std::shared_ptr<void> data;
};

/// A DLPack tensor that keeps the memory it shows.
struct Given {
  explicit Given(Memory memory) : memory(std::move(memory)) {
    const auto& spec = this->memory.spec;
    managed.dl_tensor = {.data = this->memory.data.get(),
                         .device = {kDLCPU, 0},
                         .ndim = spec.rank(),
                         .dtype = dlpack_type_of(spec.dtype),
                         .shape = this->memory.spec.shape.data(),
                         .strides = this->memory.spec.strides.data(),
                         .byte_offset = 0};
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensor* of) { delete static_cast<Given*>(of->manager_ctx); };
  }
  Memory memory;
  DLManagedTensor managed{};
};

/// A capsule of \p memory; whoever takes it renames it, and frees the tensor.
py::object capsule_of(const Memory& memory) {
  auto given = std::make_unique<Given>(memory);
  const auto free = [](PyObject* capsule) {
    if (auto* managed = PyCapsule_GetPointer(capsule, "dltensor"))
      static_cast<DLManagedTensor*>(managed)->deleter(static_cast<DLManagedTensor*>(managed));
    else
      PyErr_Clear();
  };
  auto capsule = py::reinterpret_steal<py::object>(PyCapsule_New(&given->managed, "dltensor", free));
  if (!capsule) throw py::error_already_set();
  given.release();
  return capsule;
}

}  // namespace

py::object allocate_memory(const TensorSpec& spec) {
  auto dense = contiguous(spec.dtype, spec.shape);
  std::size_t bytes = byte_size(spec.dtype);
  for (auto extent : spec.shape) bytes *= static_cast<std::size_t>(extent);
  bytes = (bytes + alignment) / alignment * alignment;
  void* data = std::aligned_alloc(alignment, bytes);
  if (!data) throw ResourceError(str("no memory for an output ", spec, ": ", bytes, " bytes"));
  return py::cast(Memory{std::move(dense), {data, std::free}});
}

py::object handed_over(const Borrowed* maker, py::object made) {
  if (!py::isinstance<Memory>(made)) return made;
  try {
    return py::handle(maker->library).attr("from_dlpack")(made);
  } catch (const py::error_already_set& error) {
    if (!error.matches(PyExc_Exception)) throw;
    throw ArgumentError(str(shown(py::getattr(maker->library, "__name__", py::handle(maker->library))),
                            " does not take an output ", made.cast<Memory&>().spec, ": ", first_line(error)));
  }
}

void bind_memory(py::module_& m) {
  bind_class<Memory>(m, "Memory", "Memory of an output, given by __dlpack__.")
      .def("__dlpack__", [](const Memory& memory, const py::kwargs&) { return capsule_of(memory); })
      .def("__dlpack_device__", [](const Memory&) { return py::make_tuple(static_cast<int>(kDLCPU), 0); });
}

}  // namespace tc::python
