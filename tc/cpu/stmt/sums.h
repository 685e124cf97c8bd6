#pragma once

#include <Halide.h>

namespace tc::cpu {

/// \p e without the call that keeps floats from being reordered.
Halide::Expr without_strict(const Halide::Expr& e);

/// What \p store adds to the element, or vector, that it writes; undefined where it does something else.
Halide::Expr added_to(const Halide::Internal::Store& store);

/// Is \p e a number that, added to a sum, changes nothing but the sign of another zero?
bool is_zero(const Halide::Expr& e);

}  // namespace tc::cpu
