#pragma once

#include <optional>

#include "tc/base/dtype.h"

namespace tc::lang {

/// The common type of two values: bool < integers < floats; integers as in NumPy, among floats the wider, the two half
/// types give float32. Empty for uint64 with a signed integer.
std::optional<DType> promote(DType a, DType b);

/// Does an assignment convert \p from to \p to without a written cast? Within a kind, from bool to numbers and from
/// integers to floats.
bool converts_silently(DType from, DType to);

}  // namespace tc::lang
