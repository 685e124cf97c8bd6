#pragma once

#include <sys/types.h>

#include <cstddef>

/// What keeps the process of a job from harming others.
namespace tc::autotuner {

/// Has this process end with \p parent, which it was forked from: at once where that is gone, whoever took its
/// children over.
void die_with(pid_t parent);

/// Limits the memory that this process may write to what it has and \p bytes more, beside the stacks of \p threads
/// threads: what a thread could use at most counts. Memory that is only reserved, as heaps of threads are, does not.
/// 0: no limit, nor is there one where an address sanitizer watches.
void limit_memory(std::size_t bytes, int threads);

}  // namespace tc::autotuner
