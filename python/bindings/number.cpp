#include <cstring>

#include "bindings.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tensor.h"

/// Python numbers as tensors of rank 0.
namespace py = pybind11;

namespace tc::python {
namespace {

template <typename T>
void store_integer(PyObject* object, unsigned char* out, DType type, const char* name) {
  py::object index = py::reinterpret_steal<py::object>(PyNumber_Index(object));
  if (!index) {
    PyErr_Clear();
    throw ArgumentError(str("'", name, "' is a ", type, ", a ", Py_TYPE(object)->tp_name, " was given"));
  }
  T value;
  try {
    value = index.cast<T>();
  } catch (const py::cast_error&) {
    throw ArgumentError(str("'", name, "' is a ", type, ", ", shown(index), " is outside its range"));
  }
  std::memcpy(out, &value, sizeof value);
}

template <typename T>
void store(T value, unsigned char* out) {
  std::memcpy(out, &value, sizeof value);
}

double real_value(PyObject* object, DType type, const char* name) {
  double value = PyFloat_AsDouble(object);
  if (value == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    throw ArgumentError(str("'", name, "' is a ", type, ", a ", Py_TYPE(object)->tp_name, " was given"));
  }
  return value;
}

void store_real(double value, unsigned char* out, DType type) {
  switch (type) {
    case DType::Float16:
      return store(double_to_half(value), out);
    case DType::BFloat16:
      return store(double_to_bfloat(value), out);
    case DType::Float32:
      return store(static_cast<float>(value), out);
    default:
      return store(value, out);
  }
}

/// The class numpy.<name>, null when NumPy has not been imported.
PyTypeObject* numpy_type(const char* name) {
  py::object modules = py::module_::import("sys").attr("modules");
  if (!modules.contains("numpy")) return nullptr;
  return reinterpret_cast<PyTypeObject*>(py::object(modules["numpy"].attr(name)).release().ptr());
}

}  // namespace

void Borrowed::take_number(PyObject* object, DType type, const char* name) {
  release();
  framework = Framework::None;
  this->object = nullptr;
  device = on_cpu;
  number_source_ = object;
  read_only = true;
  dtype = type;
  rank = 0;
  data = number_;
  switch (type) {
    case DType::Bool: {
      bool is_bool = PyBool_Check(object) || std::strstr(Py_TYPE(object)->tp_name, "bool");
      if (!is_bool) throw ArgumentError(str("'", name, "' is a bool, a ", Py_TYPE(object)->tp_name, " was given"));
      return store<std::uint8_t>(PyObject_IsTrue(object) == 1, number_);
    }
    case DType::Int8:
      return store_integer<std::int8_t>(object, number_, type, name);
    case DType::Int16:
      return store_integer<std::int16_t>(object, number_, type, name);
    case DType::Int32:
      return store_integer<std::int32_t>(object, number_, type, name);
    case DType::Int64:
      return store_integer<std::int64_t>(object, number_, type, name);
    case DType::UInt8:
      return store_integer<std::uint8_t>(object, number_, type, name);
    case DType::UInt16:
      return store_integer<std::uint16_t>(object, number_, type, name);
    case DType::UInt32:
      return store_integer<std::uint32_t>(object, number_, type, name);
    case DType::UInt64:
      return store_integer<std::uint64_t>(object, number_, type, name);
    default:
      return store_real(real_value(object, type, name), number_, type);
  }
}

bool is_number(PyObject* object) {
  if (PyFloat_Check(object) || PyLong_Check(object)) return true;
  static PyTypeObject* generic = nullptr;
  if (!generic) generic = numpy_type("generic");
  return generic && PyObject_TypeCheck(object, generic);
}

}  // namespace tc::python
