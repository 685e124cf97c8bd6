#pragma once

#include <pybind11/pybind11.h>

#include <vector>

#include "tc/engine/describe/sections.h"

namespace tc::python {

/// \p parts as lists and dictionaries of texts and numbers, with the names of their fields.
pybind11::list list_of(const std::vector<engine::ShownPart>& parts);

}  // namespace tc::python
