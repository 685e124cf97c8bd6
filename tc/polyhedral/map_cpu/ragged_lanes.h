#pragma once

#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/map/mapping.h"

namespace tc::polyhedral {

/// Do the instances of \p statement bound its iterator \p iterator from below by another one? Vectors along it would begin anywhere.
///
///   { U[i, k] : 0 <= k <= i < 8 }      along i: yes; along k: no, vectors begin at 0 and the last one is masked
bool has_ragged_lanes(const Statement& statement, int iterator);

/// \p mapping, of a cluster of \p scop, without the lanes of statements that would have ragged ones: these are scalar.
ClusterMapping without_ragged_lanes(const Scop& scop, ClusterMapping mapping);

}  // namespace tc::polyhedral
