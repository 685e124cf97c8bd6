#pragma once

#include <vector>

#include "tc/base/target.h"
#include "tc/polyhedral/core/options.h"
#include "tc/polyhedral/map/pad_product.h"

namespace tc::strategy {

/// The sums of products of \p scop that a grid computes from padded copies (pad_product): those whose rows do not begin at
/// whole vectors, which threads would move element by element, and those of a type that units for matrices multiply and sizes
/// that are no multiples of their tiles, as long as each element is used often enough to pay for one more pass over it.
/// Nothing on a processor. Clusters, which a price needs, are made of what is chosen here.
///
///   C(m,n) +=! A(m,k) * B(k,n)   2047 cubed, float      A and B in copies of 2048 x 2048
///   C(m,n) +=! A(m,k) * B(n,k)   1000 x 3000, 704 k, bfloat16    A in 1024 x 704, B in 3072 x 704
std::vector<polyhedral::PaddedProduct> choose_padding(const polyhedral::Scop& scop, const Target& target,
                                                      const polyhedral::MappingOptions& options);

}  // namespace tc::strategy
