#pragma once

#include <string>
#include <vector>

#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/map/cluster_state.h"

namespace tc::polyhedral {

/// Keeps the elements of \p tensor in a temporary while the cluster at \p path, which starts with its outer band, works
/// on them; it is copied in where the cluster needs its values, and out where somebody may read it later.
///
///   before  band [i] { I: C[i] = 0 } { U: band [k] C[i] += ... }
///   after   band [i] { I: acc_C[i] = 0 } { U: band [k] acc_C[i] += ... } { C_out[i]: C[i] = acc_C[i] }
///
/// The temporary has the box of \p tensor; where digits of an iterator (collapse.h) or a sum of several index the
/// tensor, that of the iterators, so that tiles and vectors along these are boxes too. contract makes it small. \p scop stays as it is when
/// the cluster's accesses to the tensor are not all functions of the outer band's iterators alone. \p cluster
/// learns how the copies run, and the name of the temporary in place of the tensor's (ClusterState::temporaries).
Scop stage_tensor(const Scop& scop, const std::vector<int>& path, const std::string& tensor, ClusterState& cluster);

}  // namespace tc::polyhedral
