#pragma once

#include "tc/engine/describe/describe_work.h"

namespace tc::engine {

/// Seconds that a run of what \p report describes may take on \p target with \p threads, without measuring anything.
/// Good for comparing mappings of one def, not as a time: one clock of 3 GHz, and the usual throughputs of caches,
/// stand for all machines.
///
///   cycles = max(arithmetic, registers-L1) + (L1-L2) / 32 + (L2-L3) / 12 + (L3-memory) / 4
///   arithmetic = FLOPs / (4 lanes)       two multiply-adds a cycle
///   registers-L1 = bytes / (2 accesses of lanes elements)
///
/// The traffic is that of accumulators in registers: what promote=0 costs is not seen.
///
/// All but the last term are divided by the threads of a parallel run, the last by two at most. 0 where the traffic is
/// not predicted.
double predict_seconds(const WorkReport& report, const Target& target, int threads);

}  // namespace tc::engine
