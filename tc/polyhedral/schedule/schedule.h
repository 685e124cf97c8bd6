#pragma once

#include "tc/polyhedral/core/dependences.h"
#include "tc/polyhedral/core/options.h"
#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/schedule/fusion_criterion.h"

namespace tc::polyhedral {

/// The schedule of \p scop: a sequence of clusters of fused statements.
///
///   before  sequence { S0[i,j]: band i,j }  { S1[i,j,k]: band i,j,k }  { S2[i,j]: band i,j }
///   after   band [i, j] (permutable, coincident 1 1) for S0, S1 and S2
///             sequence { S0 } { S1: band [k] (permutable, coincident 0) } { S2 }
///
/// A cluster's outermost band holds the coincident members its statements share: iterators that all dependences among
/// them align, in the order of the left-hand side. Where a constant shift, or with the options' leave a reversal or
/// skewing, could give more, isl's scheduler is called for the cluster and its rows are checked: one iterator of each
/// statement plus a constant. With options.fuse_rows, statements that compute one number stand below a band of one
/// iteration. What is below is scheduled in the same way, down to one band a statement. The clusters are those of
/// Clustering (clusters.h), where \p criterion has a say. When the isl quota runs out, program order remains.
isl::schedule compute_schedule(const Scop& scop, const Dependences& dependences, const MappingOptions& options,
                               const FusionCriterion* criterion = nullptr);

}  // namespace tc::polyhedral
