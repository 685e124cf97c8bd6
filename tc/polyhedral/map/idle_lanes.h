#pragma once

#include "tc/polyhedral/core/scop.h"

namespace tc::polyhedral {

/// { run -> buffer[y] }: the elements at lanes that do not run, in the vectors of \p lanes lanes in which \p statement
/// writes a buffer along its dimension \p dimension. A vector starts with its first instance. What such a lane computes is
/// written all the same where the buffer is padded and not `combined` (Tensor).
///
///   before  for (t < 2) vector for (l < 3) if (3 t + l <= 3) S(3 t + l): buffer[l]      4 lanes
///   after   { [0] -> buffer[3]; [1] -> buffer[y] : 1 <= y <= 3 }
///
/// \p runs is { instance -> run }, single-valued: instances of different runs are in different vectors. \p lane is a number
/// of the instances of a vector; \p iterator moves with it, one at a time.
isl::union_map idle_lanes(const Statement& statement, int iterator, const isl::union_pw_aff& lane, int lanes,
                          int dimension, const isl::union_map& runs);

}  // namespace tc::polyhedral
