#include "tc/cpu/thread_pool.h"

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
#include <string>
#include <thread>
#include <utility>

#include "tc/base/error.h"
#include "tc/base/fork.h"
#include "tc/base/str.h"
#include "tc/cpu/openmp_team.h"
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

constexpr std::uint64_t no_process = ~std::uint64_t{0};
std::atomic<std::uint64_t> process_of_threads{no_process};  ///< its fork_generation()
std::atomic<int> wanted_threads{0}, framework_threads{0};
std::atomic<int> wanted_choice{-1};  ///< a ThreadChoice; -1 where none is set
std::atomic<int> last_team{-1};      ///< a ThreadTeam; -1 before the first loop
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

constexpr std::pair<std::string_view, ThreadChoice> choices[] = {
    {"auto", ThreadChoice::Auto}, {"own", ThreadChoice::Own}, {"openmp", ThreadChoice::OpenMp}};

std::optional<ThreadChoice> choice_named(std::string_view name) {
  for (const auto& [known, choice] : choices)
    if (known == name) return choice;
  return std::nullopt;
}

std::string_view environment_choice() {
  static const auto& text = *new std::string([] {
    const char* value = std::getenv("TC_THREADS");
    return value && *value ? value : "auto";
  }());
  return text;
}

/// As thread_choice(), but a choice that the environment names wrongly is Auto, because loops do not throw.
ThreadChoice choice_of_loops() {
  if (int choice = wanted_choice.load(std::memory_order_relaxed); choice >= 0) return ThreadChoice(choice);
  static const auto& choice = *new auto(choice_named(environment_choice()).value_or(ThreadChoice::Auto));
  return choice;
}

/// The OpenMP runtime whose team in this thread is to run a loop of so many threads; null for this library's own team.
const OpenMpRuntime* openmp_for_loop(int threads) {
  switch (choice_of_loops()) {
    case ThreadChoice::Own:
      return nullptr;
    case ThreadChoice::Auto: {
      const auto* runtime = openmp_of_torch();
      return runtime && openmp_team_is_awake(*runtime, threads) ? runtime : nullptr;
    }
    case ThreadChoice::OpenMp: {
      const auto* runtime = any_openmp();
      return runtime && openmp_team_is_possible(*runtime, threads) ? runtime : nullptr;
    }
  }
  return nullptr;
}

/// Are the threads, which the first loop starts, those of a process that this one was forked from?
bool are_of_a_parent() {
  auto process = no_process;
  return !process_of_threads.compare_exchange_strong(process, fork_generation()) && process != fork_generation();
}

/// The arena for the number of threads that is set. Never destroyed with the process: threads may still be in it.
std::shared_ptr<Arena> current_arena() {
  static auto& mutex = *new ForkMutex;
  static auto& current = *new std::shared_ptr<Arena>;
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

/// Written only where it changes, so that callers in many threads do not take the line from each other.
void note_team(ThreadTeam team) {
  if (last_team.load(std::memory_order_relaxed) != static_cast<int>(team)) last_team = static_cast<int>(team);
}

WorkerTeam& team() {
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

void set_threads(ThreadChoice choice) { wanted_choice = static_cast<int>(choice); }

ThreadChoice thread_choice_of(std::string_view name) {
  if (auto choice = choice_named(name)) return *choice;
  throw OptionsError(str("the threads are '", name, "'; they must be 'auto', 'own' or 'openmp'"));
}

ThreadChoice thread_choice() {
  const int choice = wanted_choice;
  return choice >= 0 ? ThreadChoice(choice) : thread_choice_of(environment_choice());
}

std::optional<ThreadTeam> last_thread_team() {
  const int team = last_team;
  return team >= 0 ? std::optional(ThreadTeam(team)) : std::nullopt;
}

int parallel_for(void* user, ParallelBody body, int min, int extent, std::uint8_t* closure) {
  const int threads = num_threads();
  if (extent <= 1 || threads == 1 || inside_loop || are_of_a_parent())
    return run_serially(user, body, min, extent, closure);
  Guarded guarded{user, body};
  if (const auto* runtime = openmp_for_loop(threads)) {
    SharedLoop loop(&guarded, Guarded::call, min, extent, closure, threads);
    run_on_openmp_team(*runtime, loop);
    note_team(ThreadTeam::OpenMp);
    return loop.status;
  }
  note_team(ThreadTeam::Own);
  int status = 0;
  if (team().run(threads, &guarded, Guarded::call, min, extent, closure, status)) return status;
  return run_in_arena(user, body, min, extent, closure);
}

}  // namespace tc::cpu
