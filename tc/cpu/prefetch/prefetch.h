#pragma once

#include <Halide.h>

#include "tc/base/target.h"
#include "tc/cpu/prefetch/prefetch_options.h"

namespace tc::cpu {

/// \p body with prefetches of what a later iteration of a loop reads, where the processor cannot foresee it:
///
///   rows      a loop whose iterations read a row in several inner loops asks in these for the row of the next iteration
///             (prefetch_rows.h); for short rows, 1 KiB further
///   gathers   a loop that reads at an address taken from an index tensor asks for what 4 iterations later reads
///
///   before  for (i) { for (j) m = max(m, x[i*256 + j])  for (j) y[i*256 + j] = exp(x[i*256 + j] - m) }
///   after   for (i) { for (j) m = max(m, x[i*256 + j])  for (j) { prefetch x[i*256 + j + 256]  y[i*256 + j] = ... } }
///
///   before  for (l) { y[ramp(0, 1, 16)] += table[ramp(index[l]*16, 1, 16)] }
///   after   for (l) { prefetch table[index[min(l + 4, last)]*16]  y[ramp(0, 1, 16)] += ... }
///
/// Rows larger than a quarter of the second cache of \p target are left alone. A prefetch never faults.
Halide::Internal::Stmt prefetch(const Halide::Internal::Stmt& body, const Target& target,
                                const PrefetchOptions& options = {});

}  // namespace tc::cpu
