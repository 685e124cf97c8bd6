#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "tc/cpu/thread_pool.h"

namespace tc::cpu {

/// A loop whose iterations threads take in runs: long ones first, so that neighbours stay together, then short ones, so
/// that all threads end together. Which thread runs an iteration decides nothing about its result.
struct SharedLoop {
  SharedLoop(void* user, ParallelBody body, int min, int extent, std::uint8_t* closure, int threads)
      : user(user), body(body), closure(closure), min(min), extent(extent), threads(threads) {}

  /// Runs iterations until none is left or one of them failed.
  void run() {
    for (int first = 0, count = 0; (count = take(first)) > 0;)
      for (int i = first; i < first + count; ++i) {
        if (status.load(std::memory_order_relaxed)) return;
        int zero = 0;
        if (int result = body(user, min + i, closure)) status.compare_exchange_strong(zero, result);
      }
  }

  /// Claims iterations; returns how many, the first of them in \p first.
  int take(int& first) {
    first = next.load(std::memory_order_relaxed);
    while (first < extent) {
      int count = std::max(1, (extent - first) / (2 * threads));
      if (next.compare_exchange_weak(first, first + count, std::memory_order_relaxed)) return count;
    }
    return 0;
  }

  void* const user;
  const ParallelBody body;
  std::uint8_t* const closure;
  const int min, extent, threads;
  std::atomic<int> next{0}, status{0};  ///< status: the first that is not 0
};

}  // namespace tc::cpu
