#pragma once

#include "tc/polyhedral/core/scop.h"

namespace tc::polyhedral {

/// Takes away instances of ordered loops that write elements of temporaries which neither an output nor a remaining instance needs,
/// directly or by way of later iterations.
///
///   before  for t in 0:9 { h[t, n] = ... h[t - 1, n] }   y[n] = h[n / 2, n]      S: 0 <= t < 9
///   after   the same                                                            S: 0 <= t <= n / 2
///
/// A read of the same iteration under a condition counts as one in all iterations, so that the statements of a loop keep one range of
/// them. Statements outside of loops keep their instances, and so do the statements of a loop in which several tensors need each
/// other's earlier elements.
Scop drop_unread(const Scop& scop);

}  // namespace tc::polyhedral
