#pragma once

#include <string>

#include "tc/engine/run/executable.h"

namespace tc::engine {

/// The first element of an index tensor, a parameter, that leaves the tensor it indexes: "; index(2, 0) is 7". Looks at
/// subscripts T(index(i, j)) that no condition guards, over the ranges of i and j; empty where it is none of them.
/// \p arguments are the first elements of all arguments, in the memory of the CPU.
std::string first_index_outside(const Image& image, void* const* arguments);

}  // namespace tc::engine
