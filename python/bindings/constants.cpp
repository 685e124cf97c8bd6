#include "constants.h"

#include <cstring>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tensor.h"

namespace py = pybind11;

namespace tc::python {
namespace {

/// Owns \p object as long as memory of it is used, from any thread.
std::shared_ptr<void> memory_of(void* data, const py::object& object) {
  return {data, [object = object.inc_ref().ptr()](void*) {
            if (!Py_IsInitialized()) return;
            py::gil_scoped_acquire locked;
            Py_DECREF(object);
          }};
}

}  // namespace

engine::Constant constant_of(const std::string& name, DType type, const py::object& given) {
  Borrowed tensor;
  if (is_number(given.ptr())) {
    tensor.take_number(given.ptr(), type, name.c_str());
    auto constant = engine::allocate_constant(name, contiguous(type, {}));
    std::memcpy(constant.data.get(), tensor.data, static_cast<std::size_t>(byte_size(type)));
    return constant;
  }
  if (py::isinstance<TensorSpec>(given))
    throw ArgumentError(str("the constant '", name, "' is given as a spec: pass its tensor"));
  tensor.take(given.ptr(), name.c_str());
  if (tensor.device != on_cpu)
    throw ArgumentError(str("the constant '", name, "' is on a GPU; constants are bound on targets of CPUs only"));
  return {name, tensor.view(), memory_of(tensor.data, given), std::nullopt};
}

}  // namespace tc::python
