#pragma once

namespace tc::cpu {

/// Functions of an OpenMP runtime, by the names that code of GCC calls. LLVM's and Intel's runtime export them, too.
struct OpenMpRuntime {
  void (*parallel)(void (*body)(void*), void* data, unsigned threads, unsigned flags);
  int (*max_threads)();  ///< of a parallel region that the calling thread starts
  int (*in_parallel)();  ///< not 0 inside a parallel region
  int (*thread_num)();   ///< of the calling thread in its team; 0 is the one that started the region
};

/// The OpenMP runtime that the libtorch_cpu in this process was linked with; null while there is none. Libraries loaded
/// later are found within a second. The runtime stays loaded from then on. Thread-safe.
const OpenMpRuntime* openmp_of_torch();

/// The same, but where torch is absent any OpenMP runtime in this process.
const OpenMpRuntime* any_openmp();

}  // namespace tc::cpu
