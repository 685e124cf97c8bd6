#pragma once

#include <Halide.h>

namespace tc::cpu {

/// What \p store adds to the element, or vector, that it writes; undefined where it does something else.
Halide::Expr added_to(const Halide::Internal::Store& store);

}  // namespace tc::cpu
