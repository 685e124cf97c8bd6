#pragma once

#include <pybind11/pybind11.h>

#include <string>

/// One bind_ function for each part of the C++ interface; module.cpp calls them in order.
namespace tc::python {

void bind_errors(pybind11::module_& m);
/// What `str` makes of \p object, for messages: surrogates escaped, the type's name where it throws.
std::string shown(pybind11::handle object);
/// The first line of what \p error, of code of others, says.
std::string first_line(const pybind11::error_already_set& error);
void bind_layout(pybind11::module_& m);
void bind_options(pybind11::module_& m);
void bind_cache(pybind11::module_& m);
void bind_tensor(pybind11::module_& m);
void bind_memory(pybind11::module_& m);
void bind_work(pybind11::module_& m);
void bind_executable(pybind11::module_& m);
void bind_function(pybind11::module_& m);
void bind_derivation(pybind11::module_& m);
void bind_tune(pybind11::module_& m);
void bind_operators(pybind11::module_& m);
void bind_xla(pybind11::module_& m);

}  // namespace tc::python
