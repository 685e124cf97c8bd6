#pragma once

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/nest/check_nest.h"
#include "tc/polyhedral/nest/nest.h"
#include "tc/polyhedral/nest/nest_names.h"

namespace tc::polyhedral {

/// Calls \p refuse, which throws, for what cpu_passes.h cannot make of \p nest, which keeps the laws of check_nest.h: loops that the
/// program's dependences forbid where the schedule says so, iterators that are none of a reduction, reads that have no copies, loops of
/// a branch in another order than the schedule's, or several of what a cluster has one of. Dependences are verified when the
/// nest has been realised.
void check_cpu_nest(const Scop& scop, const ClusterView& cluster, const Nest& nest, const NestRefusal& refuse);

/// The same; throws OptionsError that shows the line and names the law.
void check_cpu_nest(const Scop& scop, const ClusterView& cluster, const NestNames& names, const Nest& nest);

/// Does check_cpu_nest() let \p nest pass?
bool is_realisable(const Scop& scop, const ClusterView& cluster, const Nest& nest);

}  // namespace tc::polyhedral
