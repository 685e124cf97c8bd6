#include "tc/cpu/worker_team.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>
#include <vector>

namespace tc::cpu {
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
  struct Seen {
    std::mutex mutex;
    std::set<std::thread::id> threads;
  } seen;
  auto note = [](void* user, int, std::uint8_t*) {
    auto* all = static_cast<Seen*>(user);
    {
      std::lock_guard lock(all->mutex);
      all->threads.insert(std::this_thread::get_id());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return 0;
  };
  int status = 0;
  ASSERT_TRUE(team().run(3, &seen, note, 0, 300, nullptr, status));
  EXPECT_GT(seen.threads.size(), 1u);
  EXPECT_LE(seen.threads.size(), 3u);
}

/// The cores that threads ran on beside \p caller.
struct Cores {
  std::thread::id caller = std::this_thread::get_id();
  std::mutex mutex;
  std::set<int> of_workers;

  static int note(void* user, int, std::uint8_t*) {
    auto* all = static_cast<Cores*>(user);
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    std::lock_guard lock(all->mutex);
    if (std::this_thread::get_id() != all->caller) all->of_workers.insert(::sched_getcpu());
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
}  // namespace tc::cpu
