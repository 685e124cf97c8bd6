#pragma once

#include <pybind11/pybind11.h>

#include "tc/base/error.h"
#include "tc/base/str.h"

/// Calls of objects by the slot `tp_call` of their type: a call through pybind11 takes as long as all else in a short one.
namespace tc::python {

/// \p out with its tensors held: a list, which code that runs meanwhile may change, as a tuple.
inline pybind11::object held_out(const pybind11::object& out) {
  return out && PyList_Check(out.ptr()) ? pybind11::reinterpret_steal<pybind11::object>(PyList_AsTuple(out.ptr()))
                                        : out;
}

/// What a call is given, its tensors in the order of the parameters.
struct GivenTensors {
  pybind11::args tensors;
  pybind11::object given_out;  ///< null without one
  pybind11::object out;        ///< held_out of it

  /// \p result of the call; the outputs as they were given where it is these.
  pybind11::object result(pybind11::object result) const { return out && result.is(out) ? given_out : result; }
};

/// The C++ object behind \p self, an object of its class. Throws ArgumentError for one whose `__init__` has not run;
/// \p what names it.
template <typename T>
T& instance_of(PyObject* self, const char* what) {
  void* value = reinterpret_cast<pybind11::detail::instance*>(self)->get_value_and_holder().value_ptr();
  if (!value) throw ArgumentError(str("this ", what, " has not been initialised"));
  return *static_cast<T*>(value);
}

/// Takes `out`, its tensors held, from \p named, which may be null; \p in_order(tensors, rest) orders what other names are given.
template <typename InOrder>
GivenTensors take_out(PyObject* args, PyObject* named, InOrder&& in_order) {
  static PyObject* const name = PyUnicode_InternFromString("out");
  GivenTensors given{pybind11::reinterpret_borrow<pybind11::args>(args), {}, {}};
  if (!named || PyDict_GET_SIZE(named) == 0) return given;
  if (PyObject* out = PyDict_GetItemWithError(named, name); out && out != Py_None)
    given.given_out = pybind11::reinterpret_borrow<pybind11::object>(out);
  given.out = held_out(given.given_out);
  if (PyDict_GET_SIZE(named) == 1 && PyDict_Contains(named, name) == 1) return given;
  auto rest = pybind11::reinterpret_steal<pybind11::kwargs>(PyDict_Copy(named));
  if (PyDict_Contains(rest.ptr(), name) == 1) PyDict_DelItem(rest.ptr(), name);
  given.tensors = in_order(given.tensors, rest);
  return given;
}

/// \p Call as a slot: C++ exceptions become Python's.
template <pybind11::object (*Call)(PyObject*, PyObject*, PyObject*)>
PyObject* call_slot(PyObject* self, PyObject* args, PyObject* named) {
  try {
    return Call(self, args, named).release().ptr();
  } catch (pybind11::error_already_set& error) {
    error.restore();
  } catch (...) {
    pybind11::detail::try_translate_exceptions();
  }
  return nullptr;
}

/// An option of py::class_: its objects are called by \p Call.
template <pybind11::object (*Call)(PyObject*, PyObject*, PyObject*)>
pybind11::custom_type_setup has_call() {
  return pybind11::custom_type_setup([](PyHeapTypeObject* type) { type->ht_type.tp_call = call_slot<Call>; });
}

}  // namespace tc::python
