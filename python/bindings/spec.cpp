#include <pybind11/stl.h>

#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "bind_class.h"
#include "bindings.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tensor.h"

/// Tensors without data, and tensors that are made.
namespace py = pybind11;

namespace tc::python {

TensorSpec spec_of(py::handle object, const char* name) {
  if (py::isinstance<TensorSpec>(object)) return object.cast<TensorSpec>();
  Borrowed tensor;
  tensor.take(object.ptr(), name);
  return tensor.view();
}

namespace {

/// The dtype \p name that the package ml_dtypes adds to NumPy; None where it is not installed, or adds no such one.
py::object added_to_numpy(const std::string& name) {
  try {
    return py::getattr(py::module_::import("ml_dtypes"), name.c_str(), py::none());
  } catch (const py::error_already_set& error) {
    if (!error.matches(PyExc_ImportError)) throw;
    return py::none();
  }
}

/// The dtype objects of a framework by type of the language; looked up once.
PyObject* dtype_object(const char* module, DType type) {
  static auto* known = new std::map<std::pair<std::string, DType>, PyObject*>();
  auto& entry = (*known)[{module, type}];
  if (!entry) {
    bool numpy = std::string(module) == "numpy";
    auto attribute = type == DType::Bool && numpy ? std::string("bool_") : std::string(name(type));
    py::object object = py::getattr(py::module_::import(module), attribute.c_str(), py::none());
    if (object.is_none() && numpy) object = added_to_numpy(attribute);
    if (object.is_none()) throw ArgumentError(str(module, " has no type ", type, ": pass the output as out="));
    entry = object.release().ptr();
  }
  return entry;
}

/// torch.device of the CPU or of CUDA device \p number.
PyObject* torch_device(int number) {
  static auto* known = new std::map<int, PyObject*>();
  auto& entry = (*known)[number];
  if (!entry)
    entry =
        py::module_::import("torch").attr("device")(number == on_cpu ? "cpu" : str("cuda:", number)).release().ptr();
  return entry;
}

}  // namespace

namespace {

/// Throws what a framework says that did not make a tensor of \p spec: ResourceError for want of memory. torch raises
/// RuntimeError for it on a CPU.
[[noreturn]] void throw_unallocated(const TensorSpec& spec) {
  py::error_already_set error;
  const auto text = first_line(error);
  bool for_memory = error.matches(PyExc_MemoryError) || text.find("memory") != std::string::npos;
  if (!for_memory) throw error;
  throw ResourceError(str("no memory for an output ", spec, ": ", text));
}

}  // namespace

namespace {

/// numpy.empty, null where NumPy is not installed.
PyObject* numpy_empty() {
  static PyObject* empty = [] {
    try {
      return py::object(py::module_::import("numpy").attr("empty")).release().ptr();
    } catch (const py::error_already_set& error) {
      if (!error.matches(PyExc_ModuleNotFoundError)) throw;
      return static_cast<PyObject*>(nullptr);
    }
  }();
  return empty;
}

/// An output where there is no NumPy: a memoryview of zeros. Throws ArgumentError for types and sizes that these lack,
/// ResourceError for want of memory.
py::object allocate_view(const TensorSpec& spec, py::handle shape) {
  constexpr std::string_view formats = "?bhiqBHIQe fd";  // in the order of DType
  const auto bytes = spec.element_count() * static_cast<std::int64_t>(byte_size(spec.dtype));
  auto memory = py::reinterpret_steal<py::object>(PyByteArray_FromStringAndSize(nullptr, bytes));
  if (!memory) throw_unallocated(spec);
  try {
    std::memset(PyByteArray_AS_STRING(memory.ptr()), 0, bytes);
    return py::memoryview(memory).attr("cast")(std::string(1, formats[static_cast<std::size_t>(spec.dtype)]), shape);
  } catch (const py::error_already_set&) {
    throw ArgumentError(str("an output ", spec,
                            " is made by NumPy, which is not installed: install it by `pip install "
                            "numpy`, or pass the output as out="));
  }
}

}  // namespace

py::object allocate(const Borrowed* maker, const TensorSpec& spec, PyObject* shape, int device) {
  PyObject* result = nullptr;
  if (maker && maker->framework == Framework::Array) {
    if (device == on_cpu) return allocate_memory(spec);
    return py::module_::import("tensor_comprehensions.arrays")
        .attr("empty_beside")(py::handle(maker->object), py::handle(shape), std::string(name(spec.dtype)));
  }
  if (maker) {
    static PyObject* empty = py::object(py::module_::import("torch").attr("empty")).release().ptr();
    static PyObject* names = py::make_tuple("dtype", "device").release().ptr();
    PyObject* arguments[] = {shape, dtype_object("torch", spec.dtype), torch_device(device)};
    result = PyObject_Vectorcall(empty, arguments, 1, names);
  } else if (device == on_cpu) {
    PyObject* empty = numpy_empty();
    if (!empty) return allocate_view(spec, shape);
    PyObject* arguments[] = {shape, dtype_object("numpy", spec.dtype)};
    result = PyObject_Vectorcall(empty, arguments, 2, nullptr);
  } else {
    throw ArgumentError("no library makes outputs on a GPU for these tensors: pass them as out=");
  }
  if (!result) throw_unallocated(spec);
  return py::reinterpret_steal<py::object>(result);
}

void Borrowed::move_number(int to, const char* name) {
  py::object modules = py::module_::import("sys").attr("modules");
  if (!modules.contains("torch"))
    throw ArgumentError(
        str("'", name, "' is a number and the other tensors are on a GPU: pass a tensor of rank 0 there"));
  py::object torch = modules["torch"];
  py::object tensor = torch.attr("full")(py::tuple(), py::handle(number_source_),
                                         py::arg("dtype") = py::handle(dtype_object("torch", dtype)),
                                         py::arg("device") = py::handle(torch_device(to)));
  data = reinterpret_cast<void*>(tensor.attr("data_ptr")().cast<std::uintptr_t>());
  device = to;
  source_ = tensor.release().ptr();
}

namespace {

/// What a pickle holds of a TensorSpec: shape, type, strides.
using State = std::tuple<std::vector<std::int64_t>, std::string, std::vector<std::int64_t>>;

TensorSpec make_spec(const std::vector<std::int64_t>& shape, const std::string& dtype,
                     const std::optional<std::vector<std::int64_t>>& strides) {
  auto type = parse_dtype(dtype);
  if (!type) throw ArgumentError(str("'", dtype, "' is no type of the language"));
  for (auto extent : shape)
    if (extent < 0) throw ArgumentError(str("the shape (", join(shape), ") has a negative size"));
  auto spec = contiguous(*type, shape);
  if (strides) spec.strides = *strides;
  if (spec.strides.size() != shape.size())
    throw ArgumentError(str("a shape of ", shape.size(), " sizes with ", spec.strides.size(), " strides"));
  return spec;
}

py::tuple tuple_of(const std::vector<std::int64_t>& values) { return py::tuple(py::cast(values)); }

}  // namespace

void bind_tensor(py::module_& m) {
  bind_class<TensorSpec>(m, "TensorSpec", "A tensor without data; make one with tc.spec().")
      .def(py::init(&make_spec), py::arg("shape"), py::arg("dtype"), py::arg("strides") = py::none())
      .def_property_readonly("shape", [](const TensorSpec& spec) { return tuple_of(spec.shape); })
      .def_property_readonly("strides", [](const TensorSpec& spec) { return tuple_of(spec.strides); })
      .def_property_readonly("dtype", [](const TensorSpec& spec) { return std::string(name(spec.dtype)); })
      .def(
          "__eq__", [](const TensorSpec& a, const TensorSpec& b) { return a == b; }, py::is_operator())
      .def("__hash__", [](const TensorSpec& spec) { return std::hash<std::string>()(str(spec)); })
      .def("__repr__", [](const TensorSpec& spec) { return str("<TensorSpec ", spec, ">"); })
      .def(py::pickle(
          [](const TensorSpec& spec) { return State(spec.shape, std::string(name(spec.dtype)), spec.strides); },
          [](const State& state) { return std::apply(make_spec, state); }));
}

}  // namespace tc::python
