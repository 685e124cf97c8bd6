#pragma once

#include "tc/lang/check/inline.h"
#include "tc/layout/rewrite/apply.h"

namespace tc::layout {

/// Across which reads a layout goes from one tensor to another.
enum class Propagation {
  ElementWise,  ///< Y(i, j) = ... X(i, j) ..., as in ALT
  Permuted,     ///< Y(i, j) = ... X(j, i) ..., too: the layout of one is that of the other behind a reorder
};

/// \p layouts, and the same for temporaries of \p function that others are made from, or make, element by element: so that
/// these statements run over the same loops and need no conversion (ALT, section 4.2). Layouts that store elements more than once
/// or leave holes of their own (unfold, pad, store_at) stay where they are; what \p layouts says of a tensor holds; parameters
/// and returns are the caller's. Where several tensors have one, the first in the order of statements and reads decides.
///
///   Z(n,o,h,w) +=! X(...) * K(...)   B(n,o,h,w) = Z(n,o,h,w) + b(o)   Y(n,o,h,w) = fmax(B(n,o,h,w), 0)
///     layouts: Y in NCHW16c      gives      Y, B and Z in NCHW16c
Layouts propagate(const lang::InlinedDef& function, const lang::SizeMap& sizes, Layouts layouts,
                  Propagation propagation = Propagation::ElementWise);

}  // namespace tc::layout
