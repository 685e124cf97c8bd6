#pragma once

#include <vector>

#include "tc/base/target.h"
#include "tc/polyhedral/core/dependences.h"
#include "tc/polyhedral/core/options.h"
#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/map/fuse_in_parts.h"

namespace tc::strategy {

/// The reductions of \p scop, scheduled, with \p dependences, that are to join another cluster part by part
/// (fuse_in_parts), in the order in which they are carried out; each counts the clusters that those before it leave. None
/// for a grid, and none with options.batch_invariant, as parts of a sum follow the loops of another cluster.
///
/// A reduction may join a cluster that touches a tensor it reads, and has a member with the range of a reduced iterator.
/// It does where all that changes costs less by price(), mapped as choose_mapping would, than before. Parts are up to 64,
/// of 32 iterations or more, and of a number that divides the range if there is one nearby; neither depends on the
/// threads there are, so that the result does not.
///
///   m(n) +=! A(n, c)   C(c) +=! A(n, c) * m(n)     A of 4096 x 1024: 64 parts of 64 rows, A is read once
///   D(n, o) +=! A(n, k) * B(o, k)   W(o, k) +=! D(n, o) * A(n, k)     apart: tiles would be lost
std::vector<polyhedral::FusedParts> choose_fused_parts(const polyhedral::Scop& scop,
                                                       const polyhedral::Dependences& dependences, const Target& target,
                                                       const polyhedral::MappingOptions& options);

}  // namespace tc::strategy
