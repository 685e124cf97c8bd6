#include "tc/cpu/openmp_team.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tc::cpu {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

thread_local int number_in_team = 0;
thread_local bool in_region = false;

/// An OpenMP runtime with one worker, which waits for regions awake or asleep as a test says.
class StandIn {
 public:
  StandIn() {
    current = this;
    start();
  }
  ~StandIn() {
    stop();
    current = nullptr;
  }

  void start() {
    ending_ = false;
    worker_ = std::thread([this] { work(); });
  }
  void stop() {
    ending_ = true;
    ++signal_;
    signal_.notify_all();
    if (worker_.joinable()) worker_.join();
  }
  void keep_awake(bool awake) {
    awake_ = awake;
    ++signal_;
    signal_.notify_all();
  }

  const OpenMpRuntime runtime{parallel, [] { return current->size; }, [] { return int{in_region}; },
                              [] { return number_in_team; }};
  int size = 2;
  std::atomic<int> regions{0};

 private:
  static void parallel(void (*body)(void*), void* data, unsigned threads, unsigned) {
    ASSERT_EQ(threads, 2u);
    ++current->regions;
    current->data_ = data;
    current->body_ = body;
    ++current->signal_;
    current->signal_.notify_all();
    body(data);
    while (current->body_.load()) std::this_thread::yield();
  }
  void work() {
    number_in_team = 1;
    while (!ending_) {
      const int seen = signal_;
      if (auto* body = body_.load()) {
        body(data_);
        body_ = nullptr;
      } else if (!awake_) {
        signal_.wait(seen);
      }
    }
  }

  static inline StandIn* current = nullptr;
  std::thread worker_;
  std::atomic<bool> awake_{false}, ending_{false};
  std::atomic<int> signal_{0};
  std::atomic<void (*)(void*)> body_{nullptr};
  void* data_ = nullptr;
};

void run_loop(const OpenMpRuntime& runtime, int extent = 100, int threads = 2) {
  std::vector<std::atomic<int>> visits(static_cast<std::size_t>(extent));
  auto count = [](void* user, int index, std::uint8_t*) {
    ++(*static_cast<std::vector<std::atomic<int>>*>(user))[static_cast<std::size_t>(index - 3)];
    return 0;
  };
  SharedLoop loop(&visits, count, 3, extent, nullptr, threads);
  run_on_openmp_team(runtime, loop);
  EXPECT_EQ(loop.status, 0);
  for (const auto& each : visits) ASSERT_EQ(each, 1);
}

/// Is \p asked so \p in_a_row times, a millisecond apart, within a minute? A busy machine lets a worker run when it may,
/// so that one that goes to sleep can be seen awake long after it was told to.
bool becomes(bool wanted, const std::function<bool()>& asked, int in_a_row = 1) {
  int seen = 0;
  for (auto until = Clock::now() + 60s; seen < in_a_row && Clock::now() < until; std::this_thread::sleep_for(1ms))
    seen = asked() == wanted ? seen + 1 : 0;
  return seen == in_a_row;
}

/// Runs \p test in a thread of its own, which knows no team yet.
void in_new_thread(const std::function<void()>& test) { std::thread(test).join(); }

bool is_awake(const StandIn& team) { return openmp_team_is_awake(team.runtime, 2); }

/// Until the calling thread knows the team: the first calls of a thread start none.
void meet(const StandIn& team) {
  int calls = 1;
  while (!is_awake(team)) ASSERT_LT(++calls, 10);
  EXPECT_GT(calls, 1);
  run_loop(team.runtime);
}

TEST(OpenMpTeam, IsMetAfterSomeCalls) {
  StandIn team;
  in_new_thread([&] { meet(team); });
  EXPECT_EQ(team.regions, 1);
}

TEST(OpenMpTeam, IsAwakeWhileItsWorkersLookForLoops) {
  StandIn team;
  in_new_thread([&] {
    meet(team);
    for (int round = 0; round < 3; ++round) {
      team.keep_awake(true);
      EXPECT_TRUE(becomes(true, [&] { return is_awake(team); }));
      run_loop(team.runtime);
      team.keep_awake(false);
      EXPECT_TRUE(becomes(false, [&] { return is_awake(team); }, 50)) << "round " << round;
    }
  });
}

TEST(OpenMpTeam, OfAnotherSizeIsLeftAlone) {
  StandIn team;
  team.size = 3;
  in_new_thread([&] {
    for (int call = 0; call < 100; ++call) ASSERT_FALSE(is_awake(team));
  });
}

TEST(OpenMpTeam, InsideAParallelRegionIsLeftAlone) {
  StandIn team;
  in_new_thread([&] {
    in_region = true;
    for (int call = 0; call < 100; ++call) ASSERT_FALSE(is_awake(team));
    EXPECT_FALSE(openmp_team_is_possible(team.runtime, 2));
    in_region = false;
    EXPECT_TRUE(openmp_team_is_possible(team.runtime, 2));
  });
}

TEST(OpenMpTeam, WhoseThreadsEndedIsMetAgain) {
  StandIn team;
  in_new_thread([&] {
    meet(team);
    team.stop();
    std::this_thread::sleep_for(1ms);
    EXPECT_TRUE(becomes(false, [&] { return is_awake(team); }));
    team.start();
    EXPECT_TRUE(becomes(true, [&] { return is_awake(team); }));
    run_loop(team.runtime);
  });
}

/// A runtime that gives the caller alone is not asked again.
TEST(OpenMpTeam, WithoutWorkersIsLeftAlone) {
  StandIn team;
  OpenMpRuntime alone = team.runtime;
  alone.parallel = [](void (*body)(void*), void* data, unsigned, unsigned) { body(data); };
  in_new_thread([&] {
    int taken = 0;
    for (int call = 0; call < 100; ++call)
      if (openmp_team_is_awake(alone, 2)) {
        ++taken;
        run_loop(alone);
      }
    EXPECT_EQ(taken, 1);
  });
}

/// Runtimes end the process where the system refuses threads, so they are not asked for any then.
TEST(OpenMpTeamDeathTest, IsNotStartedWhereTheSystemGivesNoThreads) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer needs memory itself";
#endif
  auto without_memory_for_threads = [] {
    StandIn team;
    rlimit none{1, RLIM_INFINITY};
    bool refused = ::setrlimit(RLIMIT_AS, &none) == 0;
    for (int call = 0; call < 100; ++call) refused = refused && !openmp_team_is_awake(team.runtime, 2);
    std::_Exit(refused ? 0 : 1);
  };
  EXPECT_EXIT(without_memory_for_threads(), testing::ExitedWithCode(0), "");
}

TEST(OpenMpTeam, OfManyThreadsAreNotAllMet) {
  StandIn team;
  std::atomic<bool> done{false};
  std::atomic<int> met{0}, asked{0};
  std::vector<std::thread> callers;
  std::mutex turn;
  for (int i = 0; i < 20; ++i)
    callers.emplace_back([&] {
      {
        std::lock_guard lock(turn);
        for (int call = 0; call < 10; ++call)
          if (is_awake(team)) {
            run_loop(team.runtime);
            ++met;
            break;
          }
        ++asked;
      }
      while (!done) std::this_thread::sleep_for(1ms);
    });
  while (asked < 20) std::this_thread::sleep_for(1ms);
  done = true;
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(met, 16);
  in_new_thread([&] { meet(team); });
}

/// The real runtimes of this machine, where there are any.
TEST(OpenMpTeam, OfRealRuntimesRunsEachIterationOnce) {
  for (const char* file : {"libgomp.so.1", "libomp.so.5"}) {
    void* library = ::dlopen(file, RTLD_LAZY | RTLD_LOCAL);
    if (!library) continue;
    auto find = [&]<typename Function>(const char* name, Function*& function) {
      function = reinterpret_cast<Function*>(::dlsym(library, name));
      ASSERT_NE(function, nullptr) << file << ' ' << name;
    };
    OpenMpRuntime runtime{};
    find("GOMP_parallel", runtime.parallel);
    find("omp_get_max_threads", runtime.max_threads);
    find("omp_in_parallel", runtime.in_parallel);
    find("omp_get_thread_num", runtime.thread_num);
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 3; ++caller)
      callers.emplace_back([&] {
        for (int round = 0; round < 100; ++round) {
          openmp_team_is_awake(runtime, 3);
          run_loop(runtime, round, 3);
        }
      });
    for (auto& caller : callers) caller.join();
  }
}

TEST(OpenMpRuntime, IsFoundOnceItIsLoaded) {
  if (!::dlopen("libgomp.so.1", RTLD_LAZY | RTLD_LOCAL)) GTEST_SKIP() << "no libgomp";
  EXPECT_TRUE(becomes(true, [] { return any_openmp() != nullptr; }));
  EXPECT_EQ(openmp_of_torch(), nullptr);
}

}  // namespace
}  // namespace tc::cpu
