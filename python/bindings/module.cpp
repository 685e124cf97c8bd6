#include <pybind11/stl.h>

#include "bind_class.h"
#include "bindings.h"
#include "interpreter_lock.h"
#include "tc/cuda/library.h"

namespace {

/// The compiler of kernels may be one of the packages that Python finds.
void search_packages_of_python() {
  std::vector<std::string> folders;
  for (auto folder : pybind11::module_::import("sys").attr("path"))
    if (pybind11::isinstance<pybind11::str>(folder)) folders.push_back(folder.cast<std::string>());
  tc::cuda::search_packages_in(std::move(folders));
}

}  // namespace

/// Types that others use as arguments or defaults come first.
PYBIND11_MODULE(_core, m) {
  m.doc() = "The compiler of tensor_comprehensions; use it through the package.";
  search_packages_of_python();
  tc::python::watch_end_of_interpreter();
  tc::python::refuse_bare_objects();
  tc::python::bind_errors(m);
  tc::python::bind_options(m);
  tc::python::bind_tensor(m);
  tc::python::bind_memory(m);
  tc::python::bind_cache(m);
  tc::python::bind_work(m);
  tc::python::bind_executable(m);
  tc::python::bind_layout(m);
  tc::python::bind_function(m);
  tc::python::bind_derivation(m);
  tc::python::bind_tune(m);
  tc::python::bind_operators(m);
  tc::python::bind_xla(m);
  tc::python::refuse_wrong_types(m);
}
