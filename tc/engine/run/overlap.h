#pragma once

#include <cstddef>
#include <string>

#include "tc/base/tensor.h"

namespace tc::engine {

/// Do two different index tuples of \p spec share an address? Exact, but true when deciding would take too long.
bool overlaps_itself(const TensorSpec& spec);

/// Throws ArgumentError for the output \p name where spec overlaps_itself.
void check_apart(const TensorSpec& spec, const std::string& name);

/// Do \p a and \p b share a byte? Exact up to a bound on the search, then true.
///
///   x[:, 0:4] and x[:, 4:8], x[0::2] and x[1::2]: false          x[0:4] and x[3:7]: true
bool overlap(const TensorView& a, const TensorView& b);

/// \p spec with strides that cannot matter (dimensions of one element, tensors without elements) as if it were
/// row-major: equal for two specs that address the same elements.
TensorSpec normalised(TensorSpec spec);

}  // namespace tc::engine
