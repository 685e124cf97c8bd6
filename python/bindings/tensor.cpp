#include "tensor.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <unordered_map>

#include "bindings.h"
#include "dlpack_exchange.h"
#include "place.h"
#include "tc/base/dlpack.h"
#include "tc/base/error.h"
#include "tc/base/str.h"

namespace py = pybind11;

namespace tc::python {
namespace {

/// What is known of a Python type. Kept with a reference to the type, so that its address stays its own.
struct TypeTraits {
  const DLPackExchangeAPI* exchange = nullptr;
  Framework framework = Framework::Other;
  bool has_dlpack = false;
  bool watches = false;  ///< has a `__torch_dispatch__` or a `__torch_function__` of its own
  bool has_mask = false;
  bool immutable = false;
  PyObject* library = nullptr;  ///< the module of the array API that its objects name
};

PyObject* interned(const char* text) {
  PyObject* result = PyUnicode_InternFromString(text);
  if (!result) throw py::error_already_set();
  return result;
}

/// The exchange functions \p type offers, null without.
const DLPackExchangeAPI* find_exchange(PyTypeObject* type) {
  PyObject* capsule = PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__dlpack_c_exchange_api__");
  if (!capsule) {
    PyErr_Clear();
    return nullptr;
  }
  const auto* api = static_cast<const DLPackExchangeAPI*>(PyCapsule_GetPointer(capsule, "dlpack_exchange_api"));
  Py_DECREF(capsule);
  if (!api) PyErr_Clear();
  while (api && api->header.version.major != 1) api = reinterpret_cast<const DLPackExchangeAPI*>(api->header.prev_api);
  return api && api->dltensor_from_py_object_no_sync ? api : nullptr;
}

/// Is \p type the class \p name of \p module, or derived from it? False while nobody has imported the module.
bool derives_from(PyTypeObject* type, const char* module, const char* name) {
  py::object modules = py::module_::import("sys").attr("modules");
  if (!modules.contains(module)) return false;
  py::object base = py::getattr(modules[module], name, py::none());
  return PyType_Check(base.ptr()) && PyType_IsSubtype(type, reinterpret_cast<PyTypeObject*>(base.ptr()));
}

/// Does \p type, derived from torch.Tensor, see what is done with its tensors?
bool sees_operators(PyTypeObject* type) {
  const auto base = py::module_::import("torch").attr("Tensor");
  const auto own = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(type));
  const auto differs = [&](const char* name) { return !own.attr(name).is(base.attr(name)); };
  const auto parameter = py::module_::import("torch").attr("nn").attr("Parameter");
  if (own.is(base) || own.is(parameter)) return false;
  const auto function = [](const py::object& of) {
    py::object method = of.attr("__torch_function__");
    return py::getattr(method, "__func__", method);
  };
  const auto ignored = py::module_::import("torch").attr("_C").attr("_disabled_torch_function_impl");
  return differs("__torch_dispatch__") || !(function(own).is(function(base)) || function(own).is(ignored));
}

/// The module of the array API that \p object names, null where it names none that takes memory.
PyObject* array_library(PyObject* object) {
  py::handle array(object);
  if (!py::hasattr(array, "__array_namespace__")) return nullptr;
  try {
    py::object library = array.attr("__array_namespace__")();
    return py::hasattr(library, "from_dlpack") ? library.release().ptr() : nullptr;
  } catch (const py::error_already_set&) {
    return nullptr;
  }
}

/// Sets the library of the objects of \p type, of which \p object is one.
void find_library(TypeTraits& traits, PyTypeObject* type, PyObject* object) {
  const bool of_numpy = derives_from(type, "numpy", "ndarray");
  if (derives_from(type, "torch", "Tensor")) {
    traits.framework = Framework::Torch;
    traits.watches = sees_operators(type);
  } else if (traits.library = of_numpy ? nullptr : array_library(object); traits.library) {
    traits.framework = Framework::Array;
    traits.immutable = derives_from(type, "jax", "Array");
  } else if (type->tp_as_buffer && type->tp_as_buffer->bf_getbuffer) {
    traits.framework = Framework::NumPy;
    traits.has_mask = derives_from(type, "numpy.ma", "MaskedArray");
  }
}

/// The traits of the type of \p object.
const TypeTraits& traits(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  static auto* known = new std::unordered_map<PyTypeObject*, TypeTraits>();
  static PyTypeObject* last_type = nullptr;
  static const TypeTraits* last = nullptr;
  if (type == last_type) return *last;
  auto found = known->find(type);
  if (found != known->end()) {
    last_type = type;
    last = &found->second;
    return *last;
  }
  TypeTraits result;
  result.exchange = find_exchange(type);
  result.has_dlpack = PyObject_HasAttrString(reinterpret_cast<PyObject*>(type), "__dlpack__");
  find_library(result, type, object);
  Py_INCREF(type);
  return known->emplace(type, result).first->second;
}

bool is_true_attribute(PyObject* object, PyObject* name) {
  PyObject* value = PyObject_GetAttr(object, name);
  if (!value) throw py::error_already_set();
  Py_DECREF(value);
  return value == Py_True;
}

bool wants_gradient(PyObject* object) {
  static PyObject* name = interned("requires_grad");
  return is_true_attribute(object, name);
}

/// Throws ArgumentError for a torch tensor whose values are not as stored.
void check_stored(PyObject* object, const char* name) {
  static PyObject* is_neg = interned("is_neg");
  PyObject* negated = PyObject_CallMethodNoArgs(object, is_neg);
  if (!negated) throw py::error_already_set();
  Py_DECREF(negated);
  if (negated == Py_True)
    throw ArgumentError(str("'", name, "' is a lazily negated view: pass ", name, ".resolve_neg()"));
}

/// The element type of a buffer's \p format and \p size. Throws ArgumentError.
DType buffer_type(const char* format, Py_ssize_t size, const char* name) {
  const char* code = format ? format : "B";
  if (*code == '@' || *code == '=' || (*code == '<' && size >= 1)) ++code;
  bool single = code[0] && !code[1];
  if (single && *code == '?') return DType::Bool;
  if (single && std::strchr("bhilqn", *code))
    return size == 1 ? DType::Int8 : size == 2 ? DType::Int16 : size == 4 ? DType::Int32 : DType::Int64;
  if (single && std::strchr("BHILQN", *code))
    return size == 1 ? DType::UInt8 : size == 2 ? DType::UInt16 : size == 4 ? DType::UInt32 : DType::UInt64;
  if (single && *code == 'e') return DType::Float16;
  if (single && *code == 'f') return DType::Float32;
  if (single && *code == 'd') return DType::Float64;
  throw ArgumentError(
      str("'", name, "' has elements of format '", format ? format : "", "', which is no type of the language"));
}

/// The type of the elements of \p array where it is one that NumPy knows from another package and has no buffer for, as
/// bfloat16 of ml_dtypes.
std::optional<DType> added_type(py::handle array) {
  py::object type = py::getattr(array, "dtype", py::none());
  py::object named = py::getattr(type, "name", py::none());
  if (!py::isinstance<py::str>(named)) return std::nullopt;
  const auto found = parse_dtype(named.cast<std::string>());
  const auto size = py::getattr(type, "itemsize", py::none());
  return found && size.equal(py::int_(byte_size(*found))) ? found : std::nullopt;
}

/// What \p capsule, of the name "\p kind", holds. It is taken: whoever gets the capsule too finds it used.
template <typename Managed>
std::shared_ptr<Managed> taken_from(PyObject* capsule, const char* kind, const char* used) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, kind));
  if (!managed || PyCapsule_SetName(capsule, used) != 0) throw py::error_already_set();
  return {managed, [](Managed* taken) {
            if (taken->deleter) taken->deleter(taken);
          }};
}

/// The tensor in \p capsule, which `__dlpack__` of \p name gave. Throws ArgumentError for what is no capsule of a DLPack
/// tensor that nobody has taken yet.
std::shared_ptr<const DLTensor> tensor_of_capsule(PyObject* capsule, const char* name, bool* read_only) {
  if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    auto managed = taken_from<DLManagedTensorVersioned>(capsule, "dltensor_versioned", "used_dltensor_versioned");
    if (managed->version.major != 1)
      throw ArgumentError(str("'", name, "' speaks version ", managed->version.major, " of DLPack, 1 is supported"));
    *read_only = managed->flags & 1;
    return {managed, &managed->dl_tensor};
  }
  if (!PyCapsule_IsValid(capsule, "dltensor"))
    throw ArgumentError(str("__dlpack__ of '", name, "' gave no capsule of a DLPack tensor, or one that was used"));
  auto managed = taken_from<DLManagedTensor>(capsule, "dltensor", "used_dltensor");
  return {managed, &managed->dl_tensor};
}

/// The stream that \p object is to make its data ready for, as `__dlpack__` takes it: None for what is not on a GPU.
/// Kernels run in torch's current stream, for which torch's tensors are ready. Throws ArgumentError for a device that
/// is none.
py::object consumer_stream(py::handle object, Framework framework, const char* name) {
  constexpr std::uintptr_t legacy_default_stream = 1;
  constexpr int no_waiting = -1;
  if (!py::hasattr(object, "__dlpack_device__")) return py::none();
  std::pair<int, int> place;
  try {
    place = object.attr("__dlpack_device__")().cast<std::pair<int, int>>();
  } catch (const py::cast_error&) {
    throw ArgumentError(str("__dlpack_device__ of '", name, "' gave no pair of integers"));
  }
  if (place.first != kDLCUDA && place.first != kDLCUDAManaged) return py::none();
  if (framework == Framework::Torch) return py::int_(no_waiting);
  auto stream = reinterpret_cast<std::uintptr_t>(current_place(place.second).stream);
  return py::int_(stream == 0 ? legacy_default_stream : stream);
}

/// The capsule of object.__dlpack__(), of version 1 and for a stream where it knows them.
PyObject* call_dlpack(py::handle object, Framework framework, const char* name) {
  py::object function = object.attr("__dlpack__"), stream = consumer_stream(object, framework, name);
  py::dict arguments;
  if (!stream.is_none()) arguments["stream"] = stream;
  for (bool versioned : {true, false}) {
    if (versioned) arguments["max_version"] = py::make_tuple(1, 0);
    try {
      return function(**arguments).release().ptr();
    } catch (py::error_already_set& error) {
      if (!error.matches(PyExc_TypeError)) throw;
    }
    arguments.attr("pop")("max_version", py::none());
  }
  return function().release().ptr();
}

/// Throws \p error, of code of who made the tensor \p name, as an ArgumentError; what ends a program (Ctrl-C) as it is.
[[noreturn]] void throw_foreign(const py::error_already_set& error, const char* name) {
  if (!error.matches(PyExc_Exception)) throw error;
  throw ArgumentError(str("'", name, "' does not give its memory: ", first_line(error)));
}

[[noreturn]] void throw_no_memory(const char* name) {
  throw ArgumentError(str("'", name, "' has a shape but no memory, as fake tensors of tracers do: pass a real tensor, ",
                          "or a tc.spec() to infer and compile"));
}

/// Has \p tensor, whose shape is one, elements without memory?
bool has_no_memory(const DLTensor& tensor) {
  return !tensor.data && tensor.shape && tensor.ndim >= 0 && tensor.ndim <= max_rank &&
         std::find(tensor.shape, tensor.shape + tensor.ndim, 0) == tensor.shape + tensor.ndim;
}

void copy_dlpack(const DLTensor& tensor, const char* name, Borrowed& out) {
  if (has_no_memory(tensor)) throw_no_memory(name);
  if (tensor.ndim > max_rank) throw ArgumentError(str("'", name, "' has more than ", max_rank, " dimensions"));
  TensorView view;
  try {
    out.device = tc::device_of(tensor);
    view = view_on_device(tensor);
  } catch (const ArgumentError& error) {
    throw ArgumentError(str("'", name, "': ", error.what()));
  }
  out.dtype = view.dtype;
  out.rank = tensor.ndim;
  std::copy(view.shape.begin(), view.shape.end(), out.shape);
  std::copy(view.strides.begin(), view.strides.end(), out.strides);
  out.data = view.data;
}

/// As copy_dlpack without allocating, for the usual types and devices; false where the general way is needed.
bool copy_plain(const DLTensor& tensor, Borrowed& out) {
  bool on_gpu = tensor.device.device_type == kDLCUDA;
  if ((!on_gpu && tensor.device.device_type != kDLCPU) || tensor.ndim < 0 || tensor.ndim > max_rank ||
      tensor.dtype.lanes != 1 || !tensor.strides || !tensor.shape || !tensor.data)
    return false;
  if (tensor.dtype.code == kDLFloat && tensor.dtype.bits == 32)
    out.dtype = DType::Float32;
  else if (tensor.dtype.code == kDLFloat && tensor.dtype.bits == 64)
    out.dtype = DType::Float64;
  else if (tensor.dtype.code == kDLInt && tensor.dtype.bits == 64)
    out.dtype = DType::Int64;
  else if (tensor.dtype.code == kDLInt && tensor.dtype.bits == 32)
    out.dtype = DType::Int32;
  else
    return false;
  out.device = on_gpu ? tensor.device.device_id : on_cpu;
  out.rank = tensor.ndim;
  std::copy(tensor.shape, tensor.shape + tensor.ndim, out.shape);
  std::copy(tensor.strides, tensor.strides + tensor.ndim, out.strides);
  out.data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  return true;
}

}  // namespace

bool is_of_torch(PyObject* object) { return traits(object).framework == Framework::Torch; }

bool watches_itself(PyObject* object) { return traits(object).watches; }

bool is_grad_enabled() {
  static PyObject* function = nullptr;
  if (!function) function = py::object(py::module_::import("torch").attr("is_grad_enabled")).release().ptr();
  auto enabled = py::reinterpret_steal<py::object>(PyObject_CallNoArgs(function));
  if (!enabled) throw py::error_already_set();
  return enabled.ptr() == Py_True;
}

void Borrowed::release() {
  if (has_buffer_) PyBuffer_Release(&buffer_);
  has_buffer_ = false;
  managed_.reset();
  Py_CLEAR(source_);
  number_source_ = nullptr;
}

void Borrowed::normalise() {
  bool empty = false;
  for (int i = 0; i < rank; ++i) empty = empty || shape[i] == 0;
  std::int64_t next = 1;
  for (int i = rank; i-- > 0;) {
    if (shape[i] == 1 || empty) strides[i] = next;
    next = strides[i] * (empty && shape[i] == 0 ? 1 : shape[i]);
  }
}

void Borrowed::take_dlpack(PyObject* object, const char* name) {
  try {
    source_ = call_dlpack(object, framework, name);
    managed_ = tensor_of_capsule(source_, name, &read_only);
  } catch (const py::error_already_set& error) {
    throw_foreign(error, name);
  }
  copy_dlpack(*managed_, name, *this);
}

void Borrowed::take_buffer(PyObject* object, const char* name) {
  std::optional<DType> added;
  if (PyObject_GetBuffer(object, &buffer_, PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
    py::error_already_set error;
    added = added_type(object);
    if (!added) throw_foreign(error, name);
    py::object bits = py::handle(object).attr("view")(str("uint", bit_size(*added)));
    source_ = bits.release().ptr();
    if (PyObject_GetBuffer(source_, &buffer_, PyBUF_STRIDES | PyBUF_FORMAT) != 0) throw py::error_already_set();
  }
  has_buffer_ = true;
  if (buffer_.ndim > max_rank) throw ArgumentError(str("'", name, "' has more than ", max_rank, " dimensions"));
  dtype = added ? *added : buffer_type(buffer_.format, buffer_.itemsize, name);
  if (buffer_.itemsize != byte_size(dtype) || (buffer_.ndim > 0 && (!buffer_.shape || !buffer_.strides)))
    throw ArgumentError(str("'", name, "' has a buffer of ", dtype, " whose elements are ", buffer_.itemsize,
                            " bytes, or that has no shape"));
  rank = buffer_.ndim;
  read_only = buffer_.readonly;
  data = buffer_.buf;
  for (int i = 0; i < rank; ++i) {
    shape[i] = buffer_.shape[i];
    strides[i] = buffer_.strides[i] / buffer_.itemsize;
    if (buffer_.strides[i] % buffer_.itemsize != 0 && shape[i] > 1)
      throw ArgumentError(str("'", name, "' has a stride of ", buffer_.strides[i],
                              " bytes, which is no multiple of its element's size"));
  }
}

void Borrowed::take(PyObject* object, const char* name) {
  release();
  const auto& type = traits(object);
  framework = type.framework;
  library = type.library;
  this->object = object;
  read_only = false;
  device = on_cpu;
  requires_grad = false;
  if (framework == Framework::Torch) {
    requires_grad = wants_gradient(object);
    check_stored(object, name);
  }
  if (type.has_mask)
    throw ArgumentError(str("'", name, "' is a masked array, whose mask would be ignored: pass ", name,
                            ".filled(value), or ", name, ".data and ", name, ".mask as two tensors"));
  if (type.exchange) {
    DLTensor tensor;
    if (type.exchange->dltensor_from_py_object_no_sync(object, &tensor) != 0) {
      py::error_already_set error;
      throw_foreign(error, name);
    }
    if (!copy_plain(tensor, *this)) copy_dlpack(tensor, name, *this);
  } else if (framework == Framework::Torch) {
    py::object detached = py::handle(object).attr("detach")();
    take_dlpack(detached.ptr(), name);
  } else if (framework == Framework::NumPy) {
    take_buffer(object, name);
  } else if (type.has_dlpack) {
    take_dlpack(object, name);
  } else {
    throw ArgumentError(str("'", name, "' must be a tensor (torch, NumPy or anything with __dlpack__), not ",
                            Py_TYPE(object)->tp_name));
  }
  read_only = read_only || type.immutable;
  normalise();
  if (!data && std::find(shape, shape + rank, 0) == shape + rank) throw_no_memory(name);
}

bool Borrowed::matches(const TensorSpec& spec) const {
  return dtype == spec.dtype && rank == spec.rank() &&
         std::memcmp(shape, spec.shape.data(), sizeof(std::int64_t) * rank) == 0 &&
         std::memcmp(strides, spec.strides.data(), sizeof(std::int64_t) * rank) == 0;
}

std::uint64_t Borrowed::hash(std::uint64_t seed) const {
  auto mix = [&](std::uint64_t value) { seed = (seed ^ value) * 0x9E3779B97F4A7C15ull, seed ^= seed >> 29; };
  mix((static_cast<std::uint64_t>(device + 1) * 64 + static_cast<std::uint64_t>(dtype)) * 64 + rank);
  for (int i = 0; i < rank; ++i) mix(shape[i]), mix(strides[i]);
  return seed;
}

TensorView Borrowed::view() const {
  TensorView view;
  view.dtype = dtype;
  view.shape.assign(shape, shape + rank);
  view.strides.assign(strides, strides + rank);
  view.data = data;
  return view;
}

}  // namespace tc::python
