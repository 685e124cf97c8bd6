#pragma once

#include "tc/polyhedral/scop.h"

namespace tc::polyhedral {

/// Source instance -> sink instance, by program order.
///
///   S0[i]:    C(i) = 0             flow         S0[i] -> S1[i, 0];  S1[i, k] -> S1[i, k + 1];  S1[i, K - 1] -> S2[i]
///   S1[i, k]: C(i) += A(i, k)      validity     S0[i] -> S1[i, k];  S1[i, k] -> S2[i];  S0[i] -> S2[i]
///   S2[i]:    D(i) = C(i)          coincidence  the same and  S1[i, k] -> S1[i, k'] : k < k'
struct Dependences {
  isl::union_map flow;    ///< write to read, last writer only; an accumulator is read by its statement
  isl::union_map anti;    ///< read to every later overwrite
  isl::union_map output;  ///< write to every later overwrite
  /// All that a schedule must keep: every write to every later read, anti and output, without the order among the
  /// instances of one accumulating statement that write the same element.
  isl::union_map validity;
  /// As validity, with that order: no loop that carries one of these may run in parallel.
  isl::union_map coincidence;
};

/// The dependences of \p scop in program order. Reads that are not exact count as reads of all they may touch. Throws
/// isl::exception_quota under an OperationQuota.
Dependences compute_dependences(const Scop& scop);

}  // namespace tc::polyhedral
