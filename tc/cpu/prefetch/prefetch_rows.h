#pragma once

#include <Halide.h>

#include <set>
#include <string>

#include "tc/base/target.h"
#include "tc/cpu/prefetch/loop_reads.h"
#include "tc/cpu/prefetch/prefetch_options.h"

namespace tc::cpu {

/// What the inner loops of \p loop, its phases, are to ask for: rows that several of them read, and that move from one
/// iteration of \p loop to the next. Every line of such a row is asked for by one of the phases that read it: the next row,
/// or, of short rows, what lies 1 KiB further on. Memory rests while a phase computes on what is in the first cache, so
/// lines are shared among the phases such that the one with most lines, asked for or stored, has as few as possible.
///
///   before  for (i) { for (j) m = max(m, x[i*256 + j])  for (j) s += exp(x[i*256 + j] - m)  for (j) y[i*256 + j] = ... }
///   after   two lines an iteration: the first loop asks for one of x[(i + 1)*256 + ...], the second for the other
///
/// None where a phase has loops inside, of buffers in \p local, and of rows larger than a quarter of the second cache.
Additions prefetches_of_rows(const Halide::Internal::For* loop, const std::set<std::string>& local,
                             const Target& target, const PrefetchOptions& options);

}  // namespace tc::cpu
