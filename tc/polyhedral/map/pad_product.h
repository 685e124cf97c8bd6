#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tc/polyhedral/core/scop.h"

namespace tc::polyhedral {

/// A sum of products whose iterators are rounded up to multiples.
struct PaddedProduct {
  std::string statement;                ///< an accumulating one whose value is the product of its two reads
  std::vector<std::int64_t> multiples;  ///< of the extent of each of its iterators
  std::vector<int> reads;               ///< that go to padded copies

  bool operator==(const PaddedProduct&) const = default;
};

/// \p scop, in program order, with the statement of \p padding over whole multiples. Operands are copied to temporaries with
/// zeros outside of the tensor, and results are summed in a temporary of that size, of which the rest is nobody's.
///
///   before  I[m, n]: C[m, n] = 0                      0 <= m, n, k < 100
///           U[m, n, k]: C[m, n] += A[m, k] * B[k, n]
///   after   padded_A_zero[m, k]: padded_A[m, k] = 0                              0 <= m, k < 128
///           padded_A_copy[m, k]: padded_A[m, k] += A[m, k]                       0 <= m, k < 100
///           the same for B
///           I[m, n]: sums_C[m, n] = 0                 0 <= m, n < 128
///           U[m, n, k]: sums_C[m, n] += padded_A[m, k] * padded_B[k, n]                  0 <= m, n, k < 128
///           U_copy[m, n]: C[m, n] = sums_C[m, n]      0 <= m, n < 100
///
/// A result that is a temporary itself is widened in place of U_copy. Rows that begin at whole vectors, and tiles without
/// borders, so cost one pass over the operands. May only be asked where may_be_padded().
Scop pad_product(const Scop& scop, const PaddedProduct& padding);

/// Can the sum of products \p statement of \p scop be padded: are its instances a box from 0 on, its two operands read by
/// iterators as they are, its result written by one statement before that sets it to zero, and by no other?
bool may_be_padded(const Scop& scop, const Statement& statement);

}  // namespace tc::polyhedral
