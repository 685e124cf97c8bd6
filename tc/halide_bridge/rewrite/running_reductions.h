#pragma once

#include "tc/halide_bridge/lower/program.h"

namespace tc::halide_bridge {

/// \p program with reductions over all terms up to an index, or from one on, as loops whose iterations run in order: their time is then in
/// proportion to the number of terms, not to its square.
///
///   before  S0[i]:    S(i) = 0                                        after  for i:  S0[i]: S(i) = if_then_else(1 <= i, S(i - 1), 0) + X(i)
///           S1[i,k]:  S(i) += if_then_else(k <= i, X(k), 0)
///
///   before  S1[i,k]:  S(i) += if_then_else(i <= k, X(k), 0)           after  for i:  S0[i]: S(N-1 - i) = if_then_else(1 <= i, S(N - i), 0) + X(N-1 - i)
///
/// Of an update behind its initialisation, over one reduction iterator k, whose value has the operator's identity where `k <= i + c`
/// does not hold, and is else the same for all i, an iterator on the left; where the first iteration has at most one term. Reductions may
/// be reassociated, which Program::running says of them later, so each result joins its term to the result before. Both iterators must have `least_terms` values; of
/// reductions from an index on, no symbolic size decides them.
Program running_reductions(const Program& program);

}  // namespace tc::halide_bridge
