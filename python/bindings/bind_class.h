#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc::python {

/// What `__reduce__` gives of \p self: by its state, whatever the protocol; by old ones Python makes an object of
/// pybind11's base of all classes. TypeError where the class has no state.
pybind11::object reduced(const pybind11::object& self);

/// The class \p name of Python for objects of T. One whose `__init__` has not run is an ArgumentError wherever it is
/// used: pybind11 would take memory that nothing was written to for the object.
template <typename T, typename... Options, typename... Extra>
pybind11::class_<T, Options...> bind_class(pybind11::module_& m, const char* name, const Extra&... extra) {
  static std::string of_class;
  of_class = name;
  pybind11::class_<T, Options...> result(m, name, extra...);
  pybind11::detail::get_type_info(typeid(T), true)->operator_new = [](std::size_t) -> void* {
    throw ArgumentError(str("this ", of_class, " has not been initialised: its __init__ did not run"));
  };
  result.def("__reduce__", &reduced);
  return result;
}

/// Has an object of pybind11's base of all classes, or of a class of Python derived from that alone, be a TypeError, where
/// pybind11 ends the process; `object.__reduce__` asks for one. To be called before classes are bound.
void refuse_bare_objects();

/// Has all functions of \p m, and the methods of its classes, throw an ArgumentError for arguments of types that they do
/// not take, in the place of pybind11's TypeError.
void refuse_wrong_types(pybind11::module_& m);

}  // namespace tc::python
