#pragma once

#include "tc/base/target.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/nest/check_nest.h"
#include "tc/polyhedral/nest/nest.h"
#include "tc/polyhedral/nest/nest_names.h"

namespace tc::polyhedral {

/// Calls \p refuse, which throws, for what grid_passes.h cannot make of \p nest, of a kernel, which keeps the laws of
/// check_nest.h and has no loops of one iteration (without_idle_loops): members that carry a dependence on blocks or threads, iterators that are none of a reduction, reads that have no
/// copies, loops around several statements that these do not have alike, units that the target does not have, or more threads and
/// blocks than \p limits allow. Dependences are verified when the nest has been realised.
void check_kernel_nest(const Scop& scop, const ClusterView& cluster, const Nest& nest, const GridLimits& limits,
                       const NestRefusal& refuse);

/// Does check_kernel_nest() let \p nest pass?
bool is_realisable_kernel(const Scop& scop, const ClusterView& cluster, const Nest& nest, const GridLimits& limits);

/// The same; throws OptionsError that shows the line and names the law.
void check_kernel_nest(const Scop& scop, const ClusterView& cluster, const NestNames& names, const Nest& nest,
                       const GridLimits& limits);

}  // namespace tc::polyhedral
