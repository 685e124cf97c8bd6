#include <pybind11/stl.h>

#include <new>
#include <string>
#include <system_error>

#include "bind_class.h"
#include "bindings.h"
#include "tc/base/error.h"
#include "tc/base/plain_text.h"
#include "tc/base/str.h"
#include "tc/engine/run/earlier_run_error.h"

namespace py = pybind11;

namespace tc::python {
namespace {

/// The Python classes of the errors; alive as long as the process.
struct ErrorTypes {
  PyObject *error, *syntax, *semantic, *options, *argument, *earlier_run, *device, *resource, *internal;
};
ErrorTypes types;

PyObject* new_type(py::module_& m, const char* name, PyObject* base, const char* doc) {
  auto full = std::string("tensor_comprehensions.") + name;
  PyObject* type = PyErr_NewExceptionWithDoc(full.c_str(), doc, base, nullptr);
  if (!type) throw py::error_already_set();
  m.add_object(name, py::reinterpret_borrow<py::object>(type));
  return type;
}

PyObject* type_of(const Error& error) {
  if (dynamic_cast<const SyntaxError*>(&error)) return types.syntax;
  if (dynamic_cast<const SemanticError*>(&error)) return types.semantic;
  if (dynamic_cast<const OptionsError*>(&error)) return types.options;
  if (dynamic_cast<const EarlierRunError*>(&error)) return types.earlier_run;
  if (dynamic_cast<const ArgumentError*>(&error)) return types.argument;
  if (dynamic_cast<const DeviceError*>(&error)) return types.device;
  if (dynamic_cast<const ResourceError*>(&error)) return types.resource;
  if (dynamic_cast<const InternalError*>(&error)) return types.internal;
  return types.error;
}

/// Sets the Python error for \p error, with its diagnostics.
void set_error(const Error& error) {
  auto type = py::reinterpret_borrow<py::object>(type_of(error));
  py::object instance = type(py::str(plain_text(error.what())));
  instance.attr("diagnostics") = py::cast(error.diagnostics());
  PyErr_SetObject(type.ptr(), instance.ptr());
}

void translate(std::exception_ptr pointer) {
  try {
    if (pointer) std::rethrow_exception(pointer);
  } catch (const Error& error) {
    set_error(error);
  } catch (const py::error_already_set&) {
    throw;
  } catch (const py::cast_error& error) {
    set_error(ArgumentError(str("an argument is of a type that is not taken here: ", error.what())));
  } catch (const py::builtin_exception&) {
    throw;
  } catch (const std::bad_alloc&) {
    set_error(ResourceError("the memory of this process is exhausted"));
  } catch (const std::system_error& error) {
    set_error(ResourceError(str("the system refused what is needed: ", error.what())));
  } catch (const std::exception& error) {
    set_error(InternalError(str("unexpected: ", error.what())));
  }
}

}  // namespace

std::string shown(py::handle object) {
  auto text = py::reinterpret_steal<py::object>(PyObject_Str(object.ptr()));
  if (text)
    text = py::reinterpret_steal<py::object>(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace"));
  if (text) return py::reinterpret_borrow<py::bytes>(text);
  if (!PyErr_ExceptionMatches(PyExc_Exception)) throw py::error_already_set();
  PyErr_Clear();
  return str("a ", Py_TYPE(object.ptr())->tp_name);
}

std::string first_line(const py::error_already_set& error) {
  const auto text = shown(error.value());
  return text.substr(0, text.find('\n'));
}

void bind_errors(py::module_& m) {
  bind_class<Diagnostic>(m, "Diagnostic", "One message about a text, with its place.")
      .def_readonly("code", &Diagnostic::code, "stable identifier, for example 'TC012'")
      .def_readonly("line", &Diagnostic::line, "from 1; 0 when the message has no place in a text")
      .def_readonly("column", &Diagnostic::column, "from 1, in bytes")
      .def_readonly("message", &Diagnostic::message, "one line")
      .def_readonly("rendered", &Diagnostic::rendered, "message, source line, caret span, notes and help")
      .def_readonly("is_error", &Diagnostic::is_error, "false: a warning")
      .def("__repr__", [](const Diagnostic& d) {
        return str("<Diagnostic ", d.code, " at ", d.line, ":", d.column, ": ", d.message, ">");
      });
  types.error =
      new_type(m, "Error", PyExc_Exception, "Base of all errors; `diagnostics` lists messages about the text.");
  py::reinterpret_borrow<py::object>(types.error).attr("diagnostics") = py::list();
  types.syntax = new_type(m, "SyntaxError", types.error, "The text is not a program.");
  types.semantic = new_type(m, "SemanticError", types.error, "The program has no meaning: names, types, ranges.");
  types.options = new_type(m, "OptionsError", types.error, "A transformation or setting that cannot be done.");
  types.argument = new_type(m, "ArgumentError", types.error, "Tensors that do not fit.");
  types.earlier_run =
      new_type(m, "EarlierRunError", types.argument,
               "An earlier run, which did not wait for tests of its index tensors, met a value outside.");
  types.device = new_type(m, "DeviceError", types.error, "The machine failed.");
  types.resource = new_type(m, "ResourceError", types.error, "Memory, time or quota exhausted.");
  types.internal = new_type(m, "InternalError", types.error, "A bug of this library.");
  py::register_local_exception_translator(translate);
}

}  // namespace tc::python
