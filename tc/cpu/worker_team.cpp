#include "tc/cpu/worker_team.h"

#include <chrono>
#include <exception>
#include <thread>

namespace tc::cpu {
namespace {

/// How long a worker looks for the next loop before it sleeps.
constexpr std::chrono::microseconds awake{200};

/// Looks between two glances at the clock, and before a caller gives its core away.
constexpr int looks = 64, patience = 4096;

/// How long the system is not asked for threads once it has refused one.
constexpr std::chrono::seconds refusal{1};

/// Workers of a small team: of more, the one that may have to wait costs little.
constexpr std::size_t few = 16;

void pause() { __builtin_ia32_pause(); }

}  // namespace

bool WorkerTeam::run(int threads, void* user, ParallelBody body, int min, int extent, std::uint8_t* closure,
                     int& status) {
  if (taken_.exchange(true, std::memory_order_acquire)) return false;
  grow(static_cast<std::size_t>(threads - 1));
  place_workers();
  SharedLoop loop(user, body, min, extent, closure, threads);
  loop_ = &loop;
  ++calls_;
  calls_.notify_all();
  loop.run();
  loop_ = nullptr;
  for (int i = 0; inside_ > 0; ++i) i < patience ? pause() : std::this_thread::yield();
  status = loop.status;
  taken_.store(false, std::memory_order_release);
  return true;
}

/// Starts workers until there are as many as \p workers, or the system gives no more; those there are do the work.
void WorkerTeam::grow(std::size_t workers) {
  if (workers_.size() >= workers || std::chrono::steady_clock::now() < refused_until_) return;
  while (workers_.size() < workers)
    if (!start_worker()) {
      refused_until_ = std::chrono::steady_clock::now() + refusal;
      return;
    }
}

/// False where the system gives no more threads.
bool WorkerTeam::start_worker() {
  try {
    workers_.reserve(workers_.size() + 1);
    std::thread thread([this, number = static_cast<int>(workers_.size())] { work(number); });
    workers_.push_back({thread.native_handle()});
    thread.detach();
  } catch (const std::exception&) {
    return false;
  }
  core_ = unplaced;
  return true;
}

/// Keeps the workers of a small team off the core of the caller, those of a large one off none.
void WorkerTeam::place_workers() {
  int core = workers_.size() > few ? anywhere : ::sched_getcpu();
  if (core == core_ || core == unplaced) return;
  core_ = core;
  for (auto& worker : workers_) worker.keep_off(core);
}

/// Leaves the worker all cores that it may use but \p core, if any remain; all, where that is none.
void WorkerTeam::Worker::keep_off(int core) {
  cpu_set_t now;
  if (::pthread_getaffinity_np(thread, sizeof now, &now) != 0) return;
  if (!CPU_EQUAL(&now, &given)) allowed = now;
  cpu_set_t others = allowed;
  if (core >= 0) CPU_CLR(static_cast<std::size_t>(core), &others);
  if (CPU_COUNT(&others) > 0 && ::pthread_setaffinity_np(thread, sizeof others, &others) == 0) given = others;
}

/// A worker counts itself before it looks at the loop, a caller takes the loop away before it looks at the count:
/// either the worker finds no loop, or the caller waits for it.
void WorkerTeam::work(int number) {
  for (std::uint32_t seen = 0;;) {
    seen = next_call(seen);
    ++inside_;
    if (SharedLoop* loop = loop_; loop && number < loop->threads - 1) loop->run();
    --inside_;
  }
}

std::uint32_t WorkerTeam::next_call(std::uint32_t seen) {
  auto until = std::chrono::steady_clock::now() + awake;
  for (int i = 0; calls_ == seen; ++i) {
    pause();
    if (i % looks == 0 && std::chrono::steady_clock::now() > until) calls_.wait(seen);
  }
  return calls_;
}

}  // namespace tc::cpu
