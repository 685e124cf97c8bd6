#pragma once

#include "tc/cpu/openmp_runtime.h"
#include "tc/cpu/shared_loop.h"

namespace tc::cpu {

/// Does the calling thread's team of \p runtime run a loop of \p threads threads sooner than other threads would? True
/// while its workers look for the next loop, as they do for milliseconds after one of torch's: they keep the cores, and
/// other threads would have to wait for these. A worker looks for loops where the clock of its processor time goes on
/// between two readings. False inside a parallel region, in a forked process, whose teams are its parent's, and
/// where the team has another size, because runtimes start and end threads when it changes.
///
/// A thread's workers are known once a loop has run there. Therefore the answer is also true once for a thread that has
/// called a few times, unless too many others are known or the system refuses as many threads.
bool openmp_team_is_awake(const OpenMpRuntime& runtime, int threads);

/// Can the calling thread start a parallel region of \p threads threads? Not inside another, nor in a forked process,
/// nor where the system refuses threads, because runtimes end the process then.
bool openmp_team_is_possible(const OpenMpRuntime& runtime, int threads);

/// Runs \p loop on the calling thread's team of \p runtime.
void run_on_openmp_team(const OpenMpRuntime& runtime, SharedLoop& loop);

}  // namespace tc::cpu
