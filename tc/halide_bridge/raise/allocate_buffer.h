#pragma once

#include <Halide.h>

#include "tc/polyhedral/core/scop.h"

namespace tc::halide_bridge {

/// Is \p tensor a buffer that all of a kernel has? isl may repeat the mark of one around parts with conditions of their
/// own.
bool lives_in_kernel(const polyhedral::Tensor& tensor);

/// Is \p tensor, a local buffer, small enough for the stack?
bool fits_stack(const polyhedral::Tensor& tensor);

/// \p body with \p tensor, a local buffer, around it: shared by a block of threads or in registers, as it says, else on
/// the stack, or on the heap where it is large.
Halide::Internal::Stmt allocate_buffer(const polyhedral::Tensor& tensor, const Halide::Internal::Stmt& body);

}  // namespace tc::halide_bridge
