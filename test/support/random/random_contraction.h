#pragma once

#include "test/support/random/random_program.h"

/// Random contractions; a part of random_program.
namespace tc::test {

/// A program around one contraction: a product of two operands with their indices in any order, batched or not,
/// windowed (strided and dilated convolutions, grouped where a batch index is in both operands), of equal or of
/// narrower types than its result, with an addition before it or elementwise work and a second contraction behind it.
/// Large enough for register tiles, packed copies and blocks of reductions in small caches. All results are exact.
///
///   C(i, n, j) +=! A(i, 2 * j + r, n) * B(k, n, r, ...)
///
/// With \p whole_tiles the first row and column are multiples of 32 and the first reduced index is one of 16, and most
/// types have 4 bytes or more: on a grid, copies of the operands run ahead. A quarter has operands of two bytes, which
/// matrix units multiply.
RandomProgram random_contraction(std::uint64_t seed, bool whole_tiles = false);

}  // namespace tc::test
