#pragma once

#include <pybind11/pybind11.h>

/// One bind_ function for each part of the C++ interface; module.cpp calls them in order.
namespace tc::python {

void bind_errors(pybind11::module_& m);
void bind_layout(pybind11::module_& m);
void bind_options(pybind11::module_& m);
void bind_cache(pybind11::module_& m);
void bind_tensor(pybind11::module_& m);
void bind_work(pybind11::module_& m);
void bind_executable(pybind11::module_& m);
void bind_function(pybind11::module_& m);
void bind_derivation(pybind11::module_& m);
void bind_tune(pybind11::module_& m);

}  // namespace tc::python
