#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tc::cpu {

/// Number of threads kernels run on. Throws OptionsError outside 1 to 4096.
void set_num_threads(int threads);
/// The same where set_num_threads() is never called: what a framework is set to. 0 and less change nothing.
void set_default_num_threads(int threads);
/// What was set; else the first number of OMP_NUM_THREADS, else the cores that this process may run on, as they are when
/// it is first asked for.
int num_threads();

/// The threads that run loops beside their caller: this library's own, or those of the OpenMP runtime that torch uses.
enum class ThreadTeam { Own, OpenMp };

/// Which team runs loops, as set_threads() and the environment variable TC_THREADS name it: "auto", "own", "openmp".
/// Auto takes torch's where its threads are awake (tc/cpu/openmp_team.h), because their cores would be taken otherwise,
/// and else this library's own. OpenMp takes threads of OpenMP wherever a runtime is loaded. Each team runs the same
/// number of threads and the same iterations, therefore results have the same bits.
enum class ThreadChoice { Auto, Own, OpenMp };
void set_threads(ThreadChoice choice);
/// The choice of that name. Throws OptionsError for another.
ThreadChoice thread_choice_of(std::string_view name);
/// What was set; else what TC_THREADS names, else Auto. Throws OptionsError where TC_THREADS names no choice.
ThreadChoice thread_choice();
/// The team that ran the last loop on threads in this process; none before the first.
std::optional<ThreadTeam> last_thread_team();

/// What kernels return when memory or threads ran out: Halide's halide_error_code_out_of_memory.
inline constexpr int out_of_memory = -11;

/// Calls body(closure, i) for i in [min, min + extent) on the team that is chosen; the first non-zero result is returned and ends the
/// loop early; out_of_memory where there is no memory for that. Runs in the calling thread when extent is 1, one thread is set, inside another parallel loop or in a
/// forked child.
using ParallelBody = int (*)(void* user, int index, std::uint8_t* closure);
int parallel_for(void* user, ParallelBody body, int min, int extent, std::uint8_t* closure);

}  // namespace tc::cpu
