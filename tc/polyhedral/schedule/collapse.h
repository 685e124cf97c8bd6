#pragma once

#include <vector>

#include "tc/polyhedral/core/dependences.h"
#include "tc/polyhedral/schedule/gather_coincident.h"

namespace tc::polyhedral {

/// Members of a cluster's outer band that are to be one, outermost first. Each runs over one iterator of every
/// statement of the cluster.
struct Collapse {
  std::size_t cluster = 0;  ///< of the clustered scop
  std::vector<int> members;

  bool operator==(const Collapse&) const = default;
};

/// Can the members of \p choice be collapsed? Each is one iterator, as it is, of every statement below, with the same
/// range in all.
bool can_collapse(const ClusteredScop& clustered, const Collapse& choice);

/// \p clustered and \p dependences with one iterator in place of those of \p choice: it numbers their iterations in the
/// order of a nest.
///
///   before  band [i, j, k] { U[i, j, k, l]: C[i, j, k] += A[i, l] * B[j, k, l] }                 0 <= j < 6, 0 <= k < 10
///   after   band [i, j_k]  { U[i, j_k, l]:  C[i, j_k / 10, j_k % 10] += A[i, l] * B[j_k / 10, j_k % 10, l] }   0 <= j_k < 60
///
/// Tiles and vectors along it run across the borders of the loops it replaces.
void collapse(ClusteredScop& clustered, Dependences& dependences, const Collapse& choice);

}  // namespace tc::polyhedral
