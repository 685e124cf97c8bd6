#pragma once

#include <Halide.h>

#include "tc/base/target.h"
#include "tc/cpu/prefetch/prefetch_options.h"

namespace tc::cpu {

/// \p body with prefetches of the next tile of a tensor, where a loop `o` goes through the tensor tile by tile and the
/// loops inside read each tile in an order that the processor cannot foresee: several times, many rows at a time, or rows that
/// end before it follows them.
/// The innermost of these loops asks for a part of the next tile in each iteration.
///
///   before  for (o, 0, 1000) { for (k, 0, 64) z[...] += x[o*512 + k]*y[...] + x[o*512 + k + 64]*... + ... }   8 rows of 64
///   after   for (o, 0, 1000) { for (k, 0, 64) { prefetch x[o*512 + 512 + k*8]  z[...] += ... } }
///
/// Tiles are dense, of half a kilobyte to a quarter of the first cache; tensors larger than half of the second cache of
/// \p target. Small tiles are asked for several iterations of `o` ahead, those of which each line is read few times into
/// the second cache. A prefetch never faults.
Halide::Internal::Stmt prefetch_tiles(const Halide::Internal::Stmt& body, const Target& target,
                                      const PrefetchOptions& options = {});

}  // namespace tc::cpu
