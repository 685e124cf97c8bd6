#pragma once

#include <cstdint>

namespace tc::cpu {

/// Number of threads kernels run on. Throws OptionsError outside 1 to 4096.
void set_num_threads(int threads);
/// The same where set_num_threads() is never called: what a framework is set to. 0 and less change nothing.
void set_default_num_threads(int threads);
/// What was set; else the first number of OMP_NUM_THREADS, else the cores that this process may run on, as they are when
/// it is first asked for.
int num_threads();

/// What kernels return when memory or threads ran out: Halide's halide_error_code_out_of_memory.
inline constexpr int out_of_memory = -11;

/// Calls body(closure, i) for i in [min, min + extent) on the pool; the first non-zero result is returned and ends the
/// loop early; out_of_memory where the pool cannot get what it needs. Runs in the calling thread when extent is 1, one thread is set, inside another parallel loop or in a
/// forked child.
using ParallelBody = int (*)(void* user, int index, std::uint8_t* closure);
int parallel_for(void* user, ParallelBody body, int min, int extent, std::uint8_t* closure);

}  // namespace tc::cpu
