#include "bindings.h"

/// Types that others use as arguments or defaults come first.
PYBIND11_MODULE(_core, m) {
  m.doc() = "The compiler of tensor_comprehensions; use it through the package.";
  tc::python::bind_errors(m);
  tc::python::bind_options(m);
  tc::python::bind_tensor(m);
  tc::python::bind_cache(m);
  tc::python::bind_work(m);
  tc::python::bind_executable(m);
  tc::python::bind_function(m);
  tc::python::bind_tune(m);
}
