#pragma once

#include "test/autodiff/random_differentiable.h"

namespace tc::test {

/// A def of float64 statements with loops, whose values change smoothly: reads of earlier iterations and of the same one, tensors that are
/// read before they are written, assigned again, or given before the loop for its first iterations; loops in loops; sums before, in and
/// after them. All tensors of loops are returns.
RandomDifferentiable random_recurrence(std::uint64_t seed);

}  // namespace tc::test
