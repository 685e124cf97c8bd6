#pragma once

#include "tc/polyhedral/dependences.h"
#include "tc/polyhedral/options.h"
#include "tc/polyhedral/scop.h"

namespace tc::polyhedral {

/// The schedule of \p scop: a sequence of clusters of fused statements.
///
///   before  sequence { S0[i,j]: band i,j }  { S1[i,j,k]: band i,j,k }  { S2[i,j]: band i,j }
///   after   band [i, j] (permutable, coincident 1 1) for S0, S1 and S2
///             sequence { S0 } { S1: band [k] (permutable, coincident 0) } { S2 }
///
/// A cluster's outermost band holds the coincident members its statements share, found by one call of isl's scheduler a
/// cluster and checked: no skewing, no negative coefficient, no shift unless it keeps the member coincident, unless the options allow. What is below is
/// scheduled in the same way, down to one band a statement. A cluster whose rows fail the check, or whose isl quota runs out, keeps program order.
isl::schedule compute_schedule(const Scop& scop, const Dependences& dependences, const MappingOptions& options);

}  // namespace tc::polyhedral
