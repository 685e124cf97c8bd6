#pragma once

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "tc/cpu/shared_loop.h"
#include "tc/cpu/thread_pool.h"

namespace tc::cpu {

/// Threads that wait for loops: awake for a moment after each, because waking one takes longer than a short loop, then
/// asleep. Those of a small team stay off the core of their caller: some systems, above all virtual machines whose
/// other cores sleep, wake a worker just there, where it waits for milliseconds until cores are balanced. A team that
/// grows large gives its workers all cores back. Where the system refuses a thread, it is asked again a second later at
/// the earliest. Never destroyed: they live as long as the process.
class WorkerTeam {
 public:
  WorkerTeam() = default;
  WorkerTeam(const WorkerTeam&) = delete;
  WorkerTeam& operator=(const WorkerTeam&) = delete;

  /// As parallel_for, in the calling thread and \p threads - 1 workers, which take runs of iterations from what is
  /// left. False, with nothing done, while another thread has the team. Not for bodies of loops that the team runs.
  bool run(int threads, void* user, ParallelBody body, int min, int extent, std::uint8_t* closure, int& status);

 private:
  static constexpr int unplaced = -1, anywhere = -2;
  /// A thread, and the cores that it may use.
  struct Worker {
    void keep_off(int core);

    pthread_t thread;
    cpu_set_t allowed = {};  ///< as whoever is not this team set it
    cpu_set_t given = {};    ///< as this team set it last
  };
  void grow(std::size_t workers);
  bool start_worker();
  void place_workers();
  void work(int number);
  std::uint32_t next_call(std::uint32_t seen);

  std::atomic<bool> taken_{false};  ///< by a caller; in a forked child, which does not use it, for ever
  std::vector<Worker> workers_;     ///< as many as a loop ever asked for
  int core_ = unplaced;             ///< of the caller, that workers stay off, or why there is none
  std::chrono::steady_clock::time_point refused_until_{};  ///< before, the system is not asked for threads
  std::atomic<std::uint32_t> calls_{0};                    ///< changes with each loop
  std::atomic<SharedLoop*> loop_{nullptr};                 ///< the one that runs
  std::atomic<int> inside_{0};                             ///< workers that may hold loop_
};

}  // namespace tc::cpu
