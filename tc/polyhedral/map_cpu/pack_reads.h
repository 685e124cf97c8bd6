#pragma once

#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/map_cpu/cpu_cluster.h"

namespace tc::polyhedral {

/// Makes the packed copies that the mapping of \p cluster, which is tiled, names (pack.h), from the outermost on, each in
/// a dense buffer where its loops begin: above all loops, below the loops `above`, or below the blocks. One that does not
/// become a buffer is left out.
///
///   before  band [j/64] band [k/512] band [i/8, j/16] { U: ... B[k, j] ... }
///   after   band [j/64] band [k/512] allocate_packed_B { pack_B[k, j] }
///                                                      { band [i/8, j/16] { U: ... packed_B[j/16, k, j%16] ... } }
Scop pack_reads(const Scop& scop, CpuCluster& cluster);

}  // namespace tc::polyhedral
