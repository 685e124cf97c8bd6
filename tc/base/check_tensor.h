#pragma once

#include <cstdint>
#include <string>

#include "tc/base/tensor.h"

namespace tc {

/// The most elements of a tensor, those between its first and its last in memory included, and the most bytes of all
/// temporaries of a def together: no machine has addresses for more, and products of few such numbers fit 128 bits.
inline constexpr std::int64_t most_elements = std::int64_t(1) << 47;

/// Throws ArgumentError, which calls it \p what, for a shape with a negative size or more than most_elements.
void check_shape(const std::vector<std::int64_t>& shape, const std::string& what);
/// As check_shape; throws also for a type that is none, another number of strides than of sizes, and strides that reach
/// over more than most_elements.
void check_tensor(const TensorSpec& spec, const std::string& what);
/// As for its spec; throws also for a null pointer to elements.
void check_tensor(const TensorView& view, const std::string& what);

}  // namespace tc
