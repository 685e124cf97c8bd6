#pragma once

#include <cstdint>
#include <string>

#include "tc/lang/interpret/ranges.h"

namespace tc::test {

/// A def of float64 statements that has a gradient nearly everywhere: shifted, strided, dilated, quotient and diagonal
/// reads under guards, reductions, parts assigned again, values in place.
struct RandomDifferentiable {
  std::string text;
  lang::SizeMap sizes;
};

/// The program of \p seed; the same on every machine.
RandomDifferentiable random_differentiable(std::uint64_t seed);

}  // namespace tc::test
