#pragma once

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/map_grid/grid_mapping.h"
#include "tc/polyhedral/nest/nest.h"
#include "tc/polyhedral/nest/nest_names.h"

namespace tc::polyhedral {

/// The mapping whose nest is \p nest, of a kernel, which keeps the laws (check_nest.h): nest_of(scop, cluster,
/// grid_mapping_of(...)) == nest but for loops of one iteration.
/// Throws OptionsError that shows the first line which the passes cannot make, beside the one that they would make there.
/// Whether the program allows the mapping is another question: check_grid_mapping.h.
GridClusterMapping grid_mapping_of(const Scop& scop, const ClusterView& cluster, const NestNames& names,
                                   const Nest& nest);

}  // namespace tc::polyhedral
