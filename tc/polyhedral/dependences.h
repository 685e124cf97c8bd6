#pragma once

#include "tc/polyhedral/scop.h"

namespace tc::polyhedral {

/// Source instance -> sink instance, by program order.
struct Dependences {
  isl::union_map flow;    ///< write to read, last writer only
  isl::union_map anti;    ///< read to overwrite
  isl::union_map output;  ///< write to overwrite
  /// All that a schedule must keep: the union, without the order among the instances of one accumulating statement
  /// that write the same element.
  isl::union_map validity;
  /// As validity, with that order: no loop that carries one of these may run in parallel.
  isl::union_map coincidence;
};

/// The dependences of \p scop in program order. Throws isl::exception_quota under an OperationQuota.
Dependences compute_dependences(const Scop& scop);

}  // namespace tc::polyhedral
