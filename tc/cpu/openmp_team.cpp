#include "tc/cpu/openmp_team.h"

#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <iterator>
#include <latch>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "tc/base/fork.h"

namespace tc::cpu {
namespace {

using Clock = std::chrono::steady_clock;

/// Calls after which a thread's workers are looked at: a thread that makes a single call starts no team.
constexpr int calls_before_acquaintance = 4;
/// Threads whose workers are known at most: each may have started a team that it does not need.
constexpr int most_acquainted = 16;
/// How long workers that were awake are taken to be so behind a loop of theirs: runtimes whose workers look for loops at
/// all do so for longer (libgomp 5 ms, LLVM's 200).
constexpr std::chrono::microseconds trusted{50};
/// Between two readings of a worker's clock: some hundred cycles.
constexpr int pauses = 8;

std::atomic<int> acquainted{0};

/// Nanoseconds of processor time of the thread whose clock it is; none where that thread has ended.
std::optional<std::int64_t> processor_time(clockid_t clock) {
  timespec time{};
  if (::clock_gettime(clock, &time) != 0) return std::nullopt;
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// Was this process forked, with or without this library? Kernels know it: PF_FORKNOEXEC of linux/sched.h. The teams of
/// a runtime are those of the parent then, and a region that a child starts never ends.
bool is_forked() {
  static const bool before_this_library = [] {
    constexpr unsigned long forked_without_exec = 0x40;
    std::ifstream file("/proc/self/stat");
    std::string stat((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    std::istringstream fields(stat.substr(std::min(stat.rfind(')') + 1, stat.size())));
    std::string skipped;
    for (int field = 3; field < 9; ++field) fields >> skipped;
    unsigned long flags = 0;
    return !(fields >> flags) || (flags & forked_without_exec) != 0;
  }();
  return before_this_library || fork_generation() > 0;
}

/// Does the system give \p count threads more, all at once?
bool system_gives(int count) {
  std::latch all(count + 1);
  std::vector<std::thread> threads;
  bool given = true;
  try {
    threads.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) threads.emplace_back([&] { all.arrive_and_wait(); });
  } catch (const std::exception&) {
    given = false;
  }
  all.count_down(count + 1 - static_cast<int>(threads.size()));
  for (auto& thread : threads) thread.join();
  return given;
}

/// What is known of the team that the runtime has for this thread.
class Acquaintance {
 public:
  ~Acquaintance() { forget(); }

  bool is_awake() {
    if (was_awake_ && Clock::now() < trusted_until_) return true;
    const auto before = processor_time(*worker_);
    if (!before) return forget(), false;
    for (int i = 0; i < pauses; ++i) __builtin_ia32_pause();
    const auto after = processor_time(*worker_);
    return was_awake_ = after && *after > *before;
  }

  /// May a loop run on the team so that its workers are known? Asked at each call until one did.
  bool wants_loop(int threads) {
    if (refused_for_ == threads || ++calls_ < calls_before_acquaintance) return false;
    if (acquainted < most_acquainted && system_gives(threads - 1)) return true;
    return refused_for_ = threads, false;
  }

  bool knows_team_of(int threads) const { return worker_ && threads_ == threads; }

  /// After a loop of \p threads threads, one worker of which has \p clock; none came where that is empty.
  void meet(std::optional<clockid_t> clock, int threads) {
    if (!clock) {
      forget();
      refused_for_ = threads;
      return;
    }
    if (!worker_) ++acquainted;
    worker_ = clock;
    threads_ = threads;
    trusted_until_ = Clock::now() + trusted;
  }

 private:
  void forget() {
    if (worker_) --acquainted;
    worker_.reset();
    was_awake_ = false;
  }

  std::optional<clockid_t> worker_;
  int threads_ = 0;  ///< of the loop that worker_ took part in
  int calls_ = 0, refused_for_ = 0;
  bool was_awake_ = false;
  Clock::time_point trusted_until_{};
};

thread_local Acquaintance acquaintance;

/// What the threads of a region share. The atomics order all accesses, so that this does not rest on the runtime's
/// barriers alone, which tools that watch threads do not see.
struct Region {
  std::atomic<SharedLoop*> loop;
  int (*thread_num)();
  std::atomic<clockid_t> clock{0};
  std::atomic<int> ended{0};  ///< threads other than the first that have ended their part
  std::atomic<bool> met{false};

  static void run(void* data) {
    auto& region = *static_cast<Region*>(data);
    auto& loop = *region.loop.load(std::memory_order_acquire);
    const int number = region.thread_num();
    clockid_t clock;
    if (number == 1 && ::pthread_getcpuclockid(::pthread_self(), &clock) == 0) {
      region.clock.store(clock, std::memory_order_relaxed);
      region.met.store(true, std::memory_order_relaxed);
    }
    loop.run();
    if (number) region.ended.fetch_add(1, std::memory_order_release);
  }
};

}  // namespace

bool openmp_team_is_awake(const OpenMpRuntime& runtime, int threads) {
  if (is_forked() || runtime.in_parallel() || runtime.max_threads() != threads) return false;
  return acquaintance.knows_team_of(threads) ? acquaintance.is_awake() : acquaintance.wants_loop(threads);
}

bool openmp_team_is_possible(const OpenMpRuntime& runtime, int threads) {
  return !is_forked() && !runtime.in_parallel() && (acquaintance.knows_team_of(threads) || system_gives(threads - 1));
}

void run_on_openmp_team(const OpenMpRuntime& runtime, SharedLoop& loop) {
  Region region{&loop, runtime.thread_num};
  region.loop.store(&loop, std::memory_order_release);
  runtime.parallel(Region::run, &region, static_cast<unsigned>(loop.threads), 0);
  region.ended.load(std::memory_order_acquire);
  acquaintance.meet(region.met ? std::optional(region.clock.load()) : std::nullopt, loop.threads);
}

}  // namespace tc::cpu
