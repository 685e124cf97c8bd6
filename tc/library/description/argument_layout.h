#pragma once

#include <optional>

#include "tc/base/tensor.h"
#include "tc/layout/map/layout.h"
#include "tc/library/description/call.h"

namespace tc::library {

/// The layout in which an argument of \p spec, contiguous, lies as operand \p wanted says, which is \p given of the same call in
/// other strides and blocks. Each dimension of the argument runs along the dimension of the operand with the greatest stride that
/// is no greater than its own; several run along one where the routine sees them as one.
///
///   (1, 64, 56, 56), given strides (3136, 56, 1) of c, h, w, wanted (16@50176+1, 896, 16)
///
///   split(1, 16) reorder(0, 1, 3, 4, 2)
///
/// Nothing where blocks cut one of these short, or \p given is not the whole argument, but every other row for example.
std::optional<layout::Layout> layout_of_argument(const TensorSpec& spec, const Operand& given, const Operand& wanted);

}  // namespace tc::library
