#include <unordered_map>
#include <vector>

#include "bind_class.h"

namespace py = pybind11;

namespace tc::python {
namespace {

using Implementation = py::handle (*)(py::detail::function_call&);

/// The functions as pybind11 made them.
std::unordered_map<const py::detail::function_record*, Implementation>& implementations() {
  static auto* known = new std::unordered_map<const py::detail::function_record*, Implementation>();
  return *known;
}

/// What \p argument is, for who gave it: its type, and why a value of the right type is none.
std::string described(py::handle argument) {
  if (!argument) return "nothing";
  std::string type = Py_TYPE(argument.ptr())->tp_name;
  if (PyUnicode_Check(argument.ptr()) && !PyUnicode_AsUTF8AndSize(argument.ptr(), nullptr)) {
    PyErr_Clear();
    return str(type, " that is no Unicode (a surrogate)");
  }
  int beyond = 0;
  if (PyLong_Check(argument.ptr())) PyLong_AsLongLongAndOverflow(argument.ptr(), &beyond);
  return beyond ? str(type, " of more than 63 bits") : type;
}

[[noreturn]] void refuse(const py::detail::function_call& call) {
  const auto& function = call.func;
  std::vector<std::string> given;
  for (std::size_t i = function.is_method ? 1 : 0; i < call.args.size(); ++i) {
    const bool named = i < function.args.size() && function.args[i].name;
    given.push_back(str(named ? str(function.args[i].name, ": ") : "", described(call.args[i])));
  }
  const auto of = function.scope && py::hasattr(function.scope, "__name__") && function.is_method
                      ? str(std::string(py::str(function.scope.attr("__name__"))), ".")
                      : std::string();
  throw ArgumentError(str("'", of, function.name, "' does not take (", join(given), ")"));
}

py::handle call_or_refuse(py::detail::function_call& call) {
  if (call.func.is_method && call.args.size() > 0 && call.args[0].is_none())
    refuse(call);  // else a null pointer as `this`
  try {
    const auto result = implementations().at(&call.func)(call);
    if (result.ptr() != PYBIND11_TRY_NEXT_OVERLOAD) return result;
  } catch (const py::reference_cast_error&) {  // None in the place of an object
  }
  refuse(call);
}

/// \p value if it is a function of pybind11 without overloads; null otherwise.
py::detail::function_record* record_of(const py::object& value) {
  const auto function = py::detail::get_function(value);
  if (!function || !PyCFunction_Check(function.ptr()) || !PyCFunction_GET_SELF(function.ptr())) return nullptr;
  auto* record = py::detail::function_record_ptr_from_PyObject(PyCFunction_GET_SELF(function.ptr()));
  return record && !record->next && !record->is_operator ? record : nullptr;
}

void refuse_in(py::handle scope) {
  for (auto name : py::list(scope.attr("__dict__").attr("keys")())) {
    const py::object value = scope.attr("__dict__")[name];
    if (PyType_Check(value.ptr()) && PyModule_Check(scope.ptr())) refuse_in(value);
    std::vector<py::object> functions = {value};
    for (const char* part : {"__func__", "fget", "fset"})  // of static functions and of properties
      if (py::hasattr(value, part)) functions.push_back(value.attr(part));
    for (const auto& function : functions) {
      auto* record = record_of(function);
      if (!record || record->impl == call_or_refuse) continue;
      implementations()[record] = record->impl;
      record->impl = call_or_refuse;
    }
  }
}

/// How pybind11 makes objects: it ends the process for a class that no class of C++ stands behind.
newfunc new_of_pybind11 = nullptr;

PyObject* new_of_classes(PyTypeObject* type, PyObject* args, PyObject* named) {
  if (!py::detail::all_type_info(type).empty()) return new_of_pybind11(type, args, named);
  return PyErr_Format(PyExc_TypeError, "cannot create '%.200s' objects: no class of C++ stands behind it",
                      type->tp_name);
}

}  // namespace

void refuse_bare_objects() {
  auto* base = reinterpret_cast<PyTypeObject*>(py::detail::get_internals().instance_base);
  if (base->tp_new == new_of_classes) return;
  new_of_pybind11 = base->tp_new;
  base->tp_new = new_of_classes;
  PyType_Modified(base);
}

py::object reduced(const py::object& self) {
  const auto type = py::type::of(self);
  if (!py::hasattr(type, "__setstate__"))
    throw py::type_error(str("cannot pickle '", Py_TYPE(self.ptr())->tp_name, "' object"));
  return py::make_tuple(py::module_::import("copyreg").attr("__newobj__"), py::make_tuple(type),
                        self.attr("__getstate__")());
}

void refuse_wrong_types(py::module_& m) { refuse_in(m); }

}  // namespace tc::python
