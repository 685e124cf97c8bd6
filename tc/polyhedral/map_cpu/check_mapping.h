#pragma once

#include "tc/polyhedral/map/mapping.h"
#include "tc/polyhedral/schedule/gather_coincident.h"

namespace tc::polyhedral {

/// Throws OptionsError, which says what is wrong, unless \p mapping is one of the clusters of \p clustered: it names their
/// members, statements, iterators and tensors, has one line for each, asks for nothing that the schedule forbids, and
/// unrolls no more than 4096 instances. What can be told only of the mapped program, the laws tell behind the passes.
void check_mapping(const ClusteredScop& clustered, const Mapping& mapping);

}  // namespace tc::polyhedral
