#include "tc/cpu/worker_team.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace tc::cpu::worker_team_test {
namespace {

/// Never destroyed: its workers live as long as the process.
WorkerTeam& team() {
  static auto& only = *new WorkerTeam;
  return only;
}

std::uint8_t* closure(void* data) { return static_cast<std::uint8_t*>(data); }

int count_visit(void*, int index, std::uint8_t* data) {
  (*reinterpret_cast<std::vector<std::atomic<int>>*>(data))[index]++;
  return 0;
}

void expect_each_once(int threads, int extent) {
  std::vector<std::atomic<int>> visits(extent);
  int status = -1;
  ASSERT_TRUE(team().run(threads, nullptr, count_visit, 0, extent, closure(&visits), status));
  EXPECT_EQ(status, 0);
  for (int i = 0; i < extent; ++i)
    ASSERT_EQ(visits[i], 1) << i << " of " << extent << " with " << threads << " threads";
}

TEST(WorkerTeamDeathTest, RunsOnTheThreadsThatTheSystemGives) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer needs memory itself";
#endif
  auto without_memory_for_threads = [] {
    auto& fresh = *new WorkerTeam;
    std::vector<std::atomic<int>> visits(100);
    rlimit none{1, RLIM_INFINITY};
    int status = ::setrlimit(RLIMIT_AS, &none);
    bool ran = status == 0 && fresh.run(4, nullptr, count_visit, 0, 100, closure(&visits), status);
    for (auto& count : visits) ran = ran && count == 1;
    std::_Exit(ran ? 0 : 1);
  };
  EXPECT_EXIT(without_memory_for_threads(), testing::ExitedWithCode(0), "");
}

/// Lets the caller of a loop wait, in an iteration of its own, for a worker's first: other processes may keep the cores.
class Meeting {
 public:
  explicit Meeting(std::chrono::seconds patience = std::chrono::seconds(20))
      : until_(std::chrono::steady_clock::now() + patience) {}

  /// Is this thread a worker?
  bool join() {
    if (std::this_thread::get_id() != caller_) return met_ = true;
    while (!met_ && std::chrono::steady_clock::now() < until_)
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    return false;
  }

 private:
  std::thread::id caller_ = std::this_thread::get_id();
  std::chrono::steady_clock::time_point until_;
  std::atomic<bool> met_{false};
};

/// The threads that take part in a loop of \p team, other than the caller, which waits so long for the first.
std::set<std::thread::id> helpers(WorkerTeam& team, int threads,
                                  std::chrono::seconds patience = std::chrono::seconds(20)) {
  struct Seen {
    Meeting meeting;
    std::mutex mutex;
    std::set<std::thread::id> threads;
  } seen{Meeting(patience), {}, {}};
  auto note = [](void* user, int, std::uint8_t*) {
    auto* all = static_cast<Seen*>(user);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (!all->meeting.join()) return 0;
    std::lock_guard lock(all->mutex);
    all->threads.insert(std::this_thread::get_id());
    return 0;
  };
  int status = 0;
  team.run(threads, &seen, note, 0, 300, nullptr, status);
  return seen.threads;
}

TEST(WorkerTeamDeathTest, DoesNotAskForThreadsAgainAtOnce) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer needs memory itself";
#endif
  auto with_memory_again = [] {
    auto& fresh = *new WorkerTeam;
    rlimit none{1, RLIM_INFINITY}, all{RLIM_INFINITY, RLIM_INFINITY};
    int status = ::setrlimit(RLIMIT_AS, &none);
    auto nothing = [](void*, int, std::uint8_t*) { return 0; };
    fresh.run(4, nullptr, nothing, 0, 2, nullptr, status);
    ::setrlimit(RLIMIT_AS, &all);
    auto at_once = helpers(fresh, 4, std::chrono::seconds(0)).size();
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));
    auto later = helpers(fresh, 4).size();
    std::_Exit(at_once == 0 && later > 0 ? 0 : 1);
  };
  EXPECT_EXIT(with_memory_again(), testing::ExitedWithCode(0), "");
}

TEST(WorkerTeam, LoopsInARowRunEachIterationOnce) {
  for (int round = 0; round < 3000; ++round) expect_each_once(1 + round % 5, round % 70);
}

TEST(WorkerTeam, WorkersThatSleepWakeUp) {
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    expect_each_once(3, 500);
  }
}

TEST(WorkerTeam, OtherThreadsThanTheCallerTakePart) {
  auto seen = helpers(team(), 3).size();
  EXPECT_GE(seen, 1u);
  EXPECT_LE(seen, 2u);
}

/// The cores that threads ran on beside \p caller.
struct Cores {
  Meeting meeting;
  std::mutex mutex;
  std::set<int> of_workers;

  static int note(void* user, int, std::uint8_t*) {
    auto* all = static_cast<Cores*>(user);
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    if (!all->meeting.join()) return 0;
    std::lock_guard lock(all->mutex);
    all->of_workers.insert(::sched_getcpu());
    return 0;
  }
};

TEST(WorkerTeam, WorkersStayOffTheCoreOfTheirCaller) {
  expect_each_once(3, 10);
  cpu_set_t before, one;
  ASSERT_EQ(::pthread_getaffinity_np(::pthread_self(), sizeof before, &before), 0);
  if (CPU_COUNT(&before) < 2) GTEST_SKIP() << "one core";
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &before)) continue;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    ASSERT_EQ(::pthread_setaffinity_np(::pthread_self(), sizeof one, &one), 0);
    Cores cores;
    int status = 0;
    ASSERT_TRUE(team().run(3, &cores, Cores::note, 0, 200, nullptr, status));
    EXPECT_FALSE(cores.of_workers.empty());
    EXPECT_EQ(cores.of_workers.count(static_cast<int>(core)), 0u);
  }
  ::pthread_setaffinity_np(::pthread_self(), sizeof before, &before);
}

/// Workers that were kept off a core may use it again once the team is large.
TEST(WorkerTeam, WorkersOfALargeTeamMayUseAllCores) {
  cpu_set_t before;
  ASSERT_EQ(::pthread_getaffinity_np(::pthread_self(), sizeof before, &before), 0);
  if (CPU_COUNT(&before) < 2) GTEST_SKIP() << "one core";
  auto& fresh = *new WorkerTeam;
  struct Cores {
    Meeting meeting;
    std::mutex mutex;
    int of_fewest = CPU_SETSIZE;
  };
  auto fewest_cores = [&](int threads) {
    Cores cores;
    auto note = [](void* user, int, std::uint8_t*) {
      auto* all = static_cast<Cores*>(user);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (!all->meeting.join()) return 0;
      cpu_set_t own;
      ::pthread_getaffinity_np(::pthread_self(), sizeof own, &own);
      std::lock_guard lock(all->mutex);
      all->of_fewest = std::min(all->of_fewest, CPU_COUNT(&own));
      return 0;
    };
    int status = 0;
    EXPECT_TRUE(fresh.run(threads, &cores, note, 0, 400, nullptr, status));
    return cores.of_fewest;
  };
  EXPECT_EQ(fewest_cores(3), CPU_COUNT(&before) - 1);
  EXPECT_EQ(fewest_cores(40), CPU_COUNT(&before));
}

TEST(WorkerTeam, OneCallerHasItAtATime) {
  auto try_again = [](void* user, int, std::uint8_t*) {
    std::thread([&] {
      int status = 0;
      std::vector<std::atomic<int>> visits(10);
      if (team().run(2, nullptr, count_visit, 0, 10, closure(&visits), status)) ++*static_cast<std::atomic<int>*>(user);
    }).join();
    return 0;
  };
  std::atomic<int> entered{0};
  int status = 0;
  ASSERT_TRUE(team().run(2, &entered, try_again, 0, 4, nullptr, status));
  EXPECT_EQ(entered, 0);
}

}  // namespace
}  // namespace tc::cpu::worker_team_test
