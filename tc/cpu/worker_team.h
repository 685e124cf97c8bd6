#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "tc/cpu/thread_pool.h"

namespace tc::cpu {

/// Threads that wait for loops: awake for a moment after each, because waking one takes longer than a short loop, then
/// asleep. Never destroyed: they live as long as the process.
class WorkerTeam {
 public:
  WorkerTeam() = default;
  WorkerTeam(const WorkerTeam&) = delete;
  WorkerTeam& operator=(const WorkerTeam&) = delete;

  /// As parallel_for, in the calling thread and \p threads - 1 workers, which take runs of iterations from what is left.
  /// False, with nothing done, while another thread has the team. Not for bodies of loops that the team runs.
  bool run(int threads, void* user, ParallelBody body, int min, int extent, std::uint8_t* closure, int& status);

 private:
  struct Loop;
  void work(int number);
  std::uint32_t next_call(std::uint32_t seen);

  std::mutex caller_;
  int workers_ = 0;                       ///< as many as a loop ever asked for
  std::atomic<std::uint32_t> calls_{0};   ///< changes with each loop
  std::atomic<Loop*> loop_{nullptr};      ///< the one that runs
  std::atomic<int> inside_{0};            ///< workers that may hold loop_
};

}  // namespace tc::cpu
