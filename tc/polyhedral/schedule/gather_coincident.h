#pragma once

#include <vector>

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/scop.h"

namespace tc::polyhedral {

/// Gives each cluster an outer band of coincident members only.
///
///   before  band [k, i, j] (permutable, coincident 0 1 1)
///   after   band [i, j] (coincident 1 1)  band [k] (coincident 0)
///
/// A band that is not permutable is split after its leading coincident members; one without any stays.
isl::schedule gather_coincident(const Scop& scop);

/// A scop whose clusters each have an outer band of coincident members, and views of these. Passes that map it take and
/// give both: clusters are found once.
struct ClusteredScop {
  Scop scop;
  std::vector<ClusterView> clusters;
};

/// \p scop, scheduled by compute_schedule, with its coincident members gathered and its clusters.
ClusteredScop clustered(const Scop& scop);

}  // namespace tc::polyhedral
