#pragma once

#include "tc/polyhedral/core/scop.h"

namespace tc::polyhedral {

/// Source instance -> sink instance, by program order, between all pairs of accesses to one element, whatever is
/// written between them. The read of an accumulator counts as part of its write.
///
///   S0[i]:    C(i) = 0             flow         S1[i, k] -> S2[i];  S0[i] -> S2[i]
///   S1[i, k]: C(i) += A(i, k)      output       S0[i] -> S1[i, k];  S1[i, k] -> S1[i, k'] : k < k'
///   S2[i]:    D(i) = C(i)          validity     S0[i] -> S1[i, k];  S1[i, k] -> S2[i];  S0[i] -> S2[i]
///                                  coincidence  the same and  S1[i, k] -> S1[i, k'] : k < k'
struct Dependences {
  isl::union_map flow;    ///< write to every later read
  isl::union_map anti;    ///< read to every later overwrite
  isl::union_map output;  ///< write to every later overwrite
  /// All that a schedule must keep: flow, anti and output, without the order among the instances of one accumulating
  /// statement that write the same element.
  isl::union_map validity;
  /// As validity, with that order: no loop that carries one of these may run in parallel.
  isl::union_map coincidence;
};

/// The dependences of \p scop in program order. Reads that are not exact count as reads of all they may touch. Throws
/// isl::exception_quota under an OperationQuota.
Dependences compute_dependences(const Scop& scop);

}  // namespace tc::polyhedral
