#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "tc/engine/run/constant.h"

namespace tc::python {

/// The tensor or number \p given for the parameter \p name, of type \p type. The constant keeps a tensor alive.
/// Throws ArgumentError for a spec and for a tensor on a GPU.
engine::Constant constant_of(const std::string& name, DType type, const pybind11::object& given);

}  // namespace tc::python
