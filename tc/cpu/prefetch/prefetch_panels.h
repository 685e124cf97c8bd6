#pragma once

#include <Halide.h>

#include "tc/base/target.h"
#include "tc/cpu/prefetch/prefetch.h"

namespace tc::cpu {

/// \p body with prefetches in the loops that accumulate in registers: what an iteration reads of a panel, a packed copy
/// in the second cache through which the loop moves, is asked for a few iterations ahead, into the first cache.
///
///   before  for (k, 0, 512) { acc[0 ...] += x16(a[k]) * panel[k*32 ...]  acc[16 ...] += x16(a[k]) * panel[k*32 + 16 ...] }
///   after   for (k, 0, 512) { prefetch panel[(k + 8)*32]  prefetch panel[(k + 8)*32 + 16]  acc[0 ...] += ... }
///
/// Buffers of at most half the first cache of \p target are left alone, and so are short loops, unless those
/// around them go on through the panel where they end. A prefetch never faults.
Halide::Internal::Stmt prefetch_panels(const Halide::Internal::Stmt& body, const Target& target,
                                       const PrefetchOptions& options = {});

}  // namespace tc::cpu
