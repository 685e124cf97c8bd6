#include "torch_state.h"

#include <pybind11/pybind11.h>

#include <array>

#include "tc/cpu/thread_pool.h"

namespace py = pybind11;

namespace tc::python {
namespace {

/// The attribute at the end of \p path, a reference that is kept; null where there is none.
PyObject* attribute(py::object from, std::initializer_list<const char*> path) {
  for (const char* name : path) {
    if (!py::hasattr(from, name)) return nullptr;
    from = from.attr(name);
  }
  return from.release().ptr();
}

PyObject* dictionary_of(PyObject* module) { return module ? PyModule_GetDict(module) : nullptr; }

/// A module's variable, looked up each time.
struct Variable {
  PyObject* dictionary;
  PyObject* name;

  Variable(PyObject* module, const char* name)
      : dictionary(dictionary_of(module)), name(PyUnicode_InternFromString(name)) {}
  PyObject* value() const { return dictionary ? PyDict_GetItemWithError(dictionary, name) : nullptr; }
};

/// Functions and variables of torch that tell what it does.
struct Watchers {
  py::module_ torch = py::module_::import("torch");
  /// Of no arguments: they give False, 0 or None where nothing is under way.
  std::array<PyObject*, 3> functions = {attribute(torch, {"_C", "_len_torch_dispatch_stack"}),
                                        attribute(torch, {"_C", "_are_functorch_transforms_active"}),
                                        attribute(torch, {"_C", "_is_tracing"})};
  Variable forward_level{attribute(torch, {"autograd", "forward_ad"}), "_current_level"};  ///< -1: none
  Variable profiler{attribute(torch, {"autograd", "profiler"}), "_is_profiler_enabled"};
};

bool gives_something(PyObject* function) {
  if (!function) return false;
  auto result = py::reinterpret_steal<py::object>(PyObject_CallNoArgs(function));
  if (!result) throw py::error_already_set();
  return result.ptr() != Py_False && result.ptr() != Py_None && PyObject_IsTrue(result.ptr());
}

bool threads_are_kept = false;

}  // namespace

bool torch_watches() {
  static const Watchers* watchers = nullptr;  // the interpreter's lock guards it
  if (!watchers) watchers = new Watchers;
  if (watchers->profiler.value() == Py_True) return true;
  if (PyObject* level = watchers->forward_level.value(); level && PyLong_AsLong(level) >= 0) return true;
  for (PyObject* function : watchers->functions)
    if (gives_something(function)) return true;
  return false;
}

void follow_threads_of_torch() {
  if (threads_are_kept) return;
  py::object modules = py::module_::import("sys").attr("modules");
  if (!modules.contains("torch") || !py::hasattr(modules["torch"], "get_num_threads")) return;
  cpu::set_default_num_threads(modules["torch"].attr("get_num_threads")().cast<int>());
}

void keep_threads() {
  if (threads_are_kept) return;
  follow_threads_of_torch();
  threads_are_kept = true;
}

}  // namespace tc::python
