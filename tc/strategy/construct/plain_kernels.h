#pragma once

#include <vector>

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/options.h"
#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/nest/nest.h"
#include "tc/strategy/price/priced_cluster.h"

namespace tc::strategy {

/// Kernels of \p cluster that a walk begins at where it does not begin at what rules choose: one warp in each block, one value of
/// each index for a thread, and the shortest copies. Of a product, with copies of its operands in shared memory; of all else, with
/// threads along members of the outer band, and along the statements' own loops.
///
///   C(m, n) +=! A(m, k) * B(k, n)     m/4 on grid.y  n/8 on grid.x  copies of A and B  k/8 with copies  k%8  m%4, n%8 on threads
std::vector<polyhedral::Nest> plain_kernels(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster,
                                            const PricedCluster& priced, const polyhedral::MappingOptions& options);

}  // namespace tc::strategy
