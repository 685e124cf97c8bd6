#pragma once

#include "tc/base/target.h"
#include "tc/polyhedral/dependences.h"
#include "tc/polyhedral/options.h"
#include "tc/polyhedral/scop.h"

namespace tc::polyhedral {

/// \p scop, scheduled by compute_schedule, mapped to the cores and vectors of \p target: tiled, point loops sunk to the
/// statements, accumulators privatised for lanes, temporaries and accumulators promoted, marks of marks.h inserted.
///
///   before  band [i, j] { S0 } { S1: band [k] }
///   after   parallel  band [i/mr]  band [j/nr]  allocate_acc { register band [i%mr, j%nr/vl]  vector band [lanes]: S0 }
///             { band [k]  register band [i%mr, j%nr/vl]  vector band [lanes]: S1 } { copy out }
///
/// \p dependences are those of \p scop; they do not cover the copies that are added.
Scop map_to_cpu(const Scop& scop, const Dependences& dependences, const Target& target, const MappingOptions& options);

}  // namespace tc::polyhedral
