#include "tc/cpu/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/cpu/worker_team.h"

namespace tc::cpu {
namespace {

/// Threads to run on, and the right to use as many.
struct Arena {
  explicit Arena(int threads)
      : limit(tbb::global_control::max_allowed_parallelism,
              std::max<std::size_t>(static_cast<std::size_t>(threads),
                                    std::max(1u, std::thread::hardware_concurrency()))),
        arena(threads),
        threads(threads) {}
  tbb::global_control limit;
  tbb::task_arena arena;
  int threads;
};

constexpr int most_threads = 4096;

std::atomic<bool> in_forked_child{false};
std::atomic<int> wanted_threads{0}, framework_threads{0};
thread_local bool inside_loop = false;

/// The cores that this process may run on.
int allowed_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof cores, &cores) == 0 && CPU_COUNT(&cores) > 0) return CPU_COUNT(&cores);
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

/// The first number of OMP_NUM_THREADS; 0 where there is none.
int threads_of_environment() {
  const char* text = std::getenv("OMP_NUM_THREADS");
  const long threads = text ? std::strtol(text, nullptr, 10) : 0;
  return threads >= 1 && threads <= most_threads ? static_cast<int>(threads) : 0;
}

int default_threads() {
  static const int environment = threads_of_environment();
  static const int threads = environment ? environment : std::min(allowed_cores(), most_threads);
  return threads;
}

void watch_forks() {
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(nullptr, nullptr, [] { in_forked_child = true; }); });
}

/// The arena for the number of threads that is set. Never destroyed with the process: threads may still be in it.
std::shared_ptr<Arena> current_arena() {
  static auto& mutex = *new std::mutex;
  static auto& current = *new std::shared_ptr<Arena>;
  watch_forks();
  std::lock_guard lock(mutex);
  if (!current || current->threads != num_threads()) current = std::make_shared<Arena>(num_threads());
  return current;
}

/// While alive, loops in this thread run serially.
struct InsideLoop {
  InsideLoop() { inside_loop = true; }
  ~InsideLoop() { inside_loop = before; }
  bool before = inside_loop;
};

int run_serially(void* user, ParallelBody body, int min, int extent, std::uint8_t* closure) {
  for (int i = min; i < min + extent; ++i)
    if (int status = body(user, i, closure)) return status;
  return 0;
}

WorkerTeam& team() {
  watch_forks();
  static auto& only = *new WorkerTeam;
  return only;
}

/// The body of a loop on a team, which may not start loops on threads itself.
struct Guarded {
  void* user;
  ParallelBody body;
  static int call(void* self, int index, std::uint8_t* closure) {
    InsideLoop guard;
    auto* guarded = static_cast<Guarded*>(self);
    return guarded->body(guarded->user, index, closure);
  }
};

/// Machine code calls this: no exception may pass.
int run_in_arena(void* user, ParallelBody body, int min, int extent, std::uint8_t* closure) {
  std::atomic<int> status{0};
  try {
    auto arena = current_arena();
    arena->arena.execute([&] {
      tbb::parallel_for(min, min + extent, [&](int i) {
        InsideLoop guard;
        if (status.load(std::memory_order_relaxed)) return;
        int zero = 0;
        if (int result = body(user, i, closure)) status.compare_exchange_strong(zero, result);
      });
    });
  } catch (const std::exception&) {
    return out_of_memory;
  }
  return status;
}

}  // namespace

void set_num_threads(int threads) {
  if (threads < 1 || threads > most_threads)
    throw OptionsError(str("the number of threads is ", threads, "; it must be from 1 to ", most_threads));
  wanted_threads = threads;
}

void set_default_num_threads(int threads) {
  if (threads > 0) framework_threads = std::min(threads, most_threads);
}

int num_threads() {
  if (int threads = wanted_threads.load()) return threads;
  int threads = framework_threads.load();
  return threads ? threads : default_threads();
}

int parallel_for(void* user, ParallelBody body, int min, int extent, std::uint8_t* closure) {
  if (extent <= 1 || num_threads() == 1 || inside_loop || in_forked_child)
    return run_serially(user, body, min, extent, closure);
  Guarded guarded{user, body};
  int status = 0;
  if (team().run(num_threads(), &guarded, Guarded::call, min, extent, closure, status)) return status;
  return run_in_arena(user, body, min, extent, closure);
}

}  // namespace tc::cpu
