#pragma once

#include <pybind11/pybind11.h>

#include "tc/engine/engine.h"

namespace tc::python {

/// What a def takes and gives as its text says it: two lists, of parameters and of returns, of (name, type, dimensions as
/// TC text or None where the text has none, whether it accumulates into what the caller's buffer holds). Types are those
/// that the checker found.
pybind11::tuple signature_of(const engine::Function& function);

/// The same as it is written: type names and leading dimensions of a generic def, "" for the type of a return that has none.
pybind11::tuple shown_signature_of(const engine::Function& function);

/// The shapes of parameters and returns of \p function, which holds no calls, over its sizes: two lists of lists of
/// Python expressions, in which `Min`, `Max` and `If` are functions and `/` is `//`. Returns are 0-based.
pybind11::tuple symbolic_shapes(const engine::Function& function);

}  // namespace tc::python
