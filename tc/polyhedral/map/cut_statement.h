#pragma once

#include <cstdint>

#include "tc/polyhedral/core/scop.h"

namespace tc::polyhedral {

/// \p statement with its iterator \p cut divided into parts of \p size iterations: the part, which becomes the first dimension, and the
/// place in it, which takes the place of the iterator. The last part may be a shorter one.
///
///   before  S[n, c]      0 <= n < 256          iterators n, c
///   after   S[p, n, c]   0 <= p < 4, 0 <= n < 64          iterators n_part, n, c          size 64
///
/// The statement is in no ordered loop.
Statement cut_statement(const Statement& statement, int cut, std::int64_t size);

/// { S[p, n, c] -> S[64p + n, c] }: the instance of \p statement that is number n of part p.
isl::multi_aff uncut(const Statement& statement, int cut, std::int64_t size);

}  // namespace tc::polyhedral
