#pragma once

#include "tc/polyhedral/map/cluster_state.h"
#include "tc/polyhedral/map/footprint_box.h"
#include "tc/polyhedral/map/statement_lanes.h"

namespace tc::polyhedral {

/// A local buffer for the footprint \p box of \p tensor below \p subtree, laid out for the vectors that access it, as
/// \p cluster says: contiguous along the dimension in which their lanes lie, and as far as that is of use with room for
/// every lane of them (Tensor::padded).
///
///   footprint 6 x 5, lanes along dimension 0      extent 8 x 5, strides 1, 8, padded
Tensor local_buffer(const Scop& scop, const Subtree& subtree, const ClusterState& cluster, const Tensor& tensor,
                    const FootprintBox& box, FirstLanes& first_lanes);

}  // namespace tc::polyhedral
