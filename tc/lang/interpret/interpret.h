#pragma once

#include <map>
#include <string>

#include "tc/base/tensor.h"
#include "tc/lang/interpret/ranges.h"

namespace tc::lang {

/// Executes \p def (checked, without calls and lets) statement by statement over the boxes of \p ranges: the oracle.
///
/// Values are float64 or exact 64-bit integers wrapped to their type; a store rounds to the tensor's type, sums of
/// halves accumulate unrounded and round once. \p tensors holds every parameter and return by name; temporaries are
/// made here. A tensor's element with the lowest index of its box is its view's first element. In-place statements read
/// all right-hand sides before they write.
/// Throws ArgumentError for a data-dependent subscript outside its tensor (outputs are then unspecified).
void interpret(const Def& def, const Ranges& ranges, const SizeMap& sizes,
               const std::map<std::string, TensorView>& tensors);

}  // namespace tc::lang
