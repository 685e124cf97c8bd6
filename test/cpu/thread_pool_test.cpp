#include "tc/cpu/thread_pool.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tc/base/error.h"
#include "test/support/expect_error.h"

namespace tc::cpu {
namespace {

std::uint8_t* closure(void* data) { return static_cast<std::uint8_t*>(data); }

class ThreadPoolTest : public testing::Test {
 protected:
  void TearDown() override {
    set_num_threads(before_);
    set_threads(ThreadChoice::Auto);
  }
  int before_ = num_threads();
};

/// Each team in turn, where the machine has a runtime of OpenMP.
class TeamTest : public ThreadPoolTest, public testing::WithParamInterface<ThreadChoice> {
 protected:
  void SetUp() override {
    if (GetParam() == ThreadChoice::OpenMp && !::dlopen("libgomp.so.1", RTLD_LAZY | RTLD_LOCAL))
      GTEST_SKIP() << "no libgomp";
    set_threads(GetParam());
  }
};
INSTANTIATE_TEST_SUITE_P(Of, TeamTest, testing::Values(ThreadChoice::Own, ThreadChoice::OpenMp, ThreadChoice::Auto),
                         [](const auto& given) {
                           return std::string(std::array{"Auto", "Own", "OpenMp"}[static_cast<int>(given.param)]);
                         });

int count_visit(void*, int index, std::uint8_t* data) {
  (*reinterpret_cast<std::vector<std::atomic<int>>*>(data))[index - 3]++;
  return 0;
}

TEST_P(TeamTest, EveryIndexRunsOnce) {
  for (int threads : {1, 2, 3, 17}) {
    set_num_threads(threads);
    EXPECT_EQ(num_threads(), threads);
    for (int extent : {0, 1, 2, 1000}) {
      std::vector<std::atomic<int>> visits(extent);
      EXPECT_EQ(parallel_for(nullptr, count_visit, 3, extent, closure(&visits)), 0);
      for (int i = 0; i < extent; ++i) EXPECT_EQ(visits[i], 1) << i << " with " << threads << " threads";
    }
  }
}

TEST_P(TeamTest, TheFirstErrorIsReturnedAndEndsTheLoop) {
  set_num_threads(4);
  std::atomic<int> visits{0};
  auto body = [](void*, int index, std::uint8_t* data) {
    ++*reinterpret_cast<std::atomic<int>*>(data);
    return index == 0 ? -11 : 0;
  };
  EXPECT_EQ(parallel_for(nullptr, body, 0, 1 << 20, closure(&visits)), -11);
  EXPECT_LT(visits, 1 << 20);
}

TEST_P(TeamTest, ALoopInsideALoopStaysInItsThread) {
  set_num_threads(4);
  std::atomic<int> elsewhere{0};
  auto outer = [](void* user, int, std::uint8_t* data) {
    auto here = pthread_self();
    auto inner = [](void* user, int, std::uint8_t* data) {
      if (!pthread_equal(*static_cast<pthread_t*>(user), pthread_self())) ++*reinterpret_cast<std::atomic<int>*>(data);
      return 0;
    };
    return parallel_for(&here, inner, 0, 100, data);
  };
  EXPECT_EQ(parallel_for(nullptr, outer, 0, 64, closure(&elsewhere)), 0);
  EXPECT_EQ(elsewhere, 0);
}

TEST_P(TeamTest, AForkedChildRunsLoopsItself) {
  set_num_threads(4);
  std::vector<std::atomic<int>> visits(500);
  EXPECT_EQ(parallel_for(nullptr, count_visit, 3, 500, closure(&visits)), 0);
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    int status = parallel_for(nullptr, count_visit, 3, 500, closure(&visits));
    for (const auto& count : visits) status |= count != 2;
    _exit(status);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST_P(TeamTest, IsTheOneThatRanLast) {
  set_num_threads(3);
  const auto wanted = GetParam() == ThreadChoice::OpenMp ? ThreadTeam::OpenMp : ThreadTeam::Own;
  std::vector<std::atomic<int>> visits(100);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  do {
    EXPECT_EQ(parallel_for(nullptr, count_visit, 3, 100, closure(&visits)), 0);
  } while (last_thread_team() != wanted && std::chrono::steady_clock::now() < until);
  EXPECT_EQ(last_thread_team(), wanted);
}

TEST_P(TeamTest, RunsLoopsOfManyCallers) {
  set_num_threads(3);
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        std::vector<std::atomic<int>> visits(50);
        if (parallel_for(nullptr, count_visit, 3, 50, closure(&visits))) ++wrong;
        for (const auto& count : visits) wrong += count != 1;
      }
    });
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(ThreadPoolTest, TeamsHaveNames) {
  EXPECT_EQ(thread_choice_of("own"), ThreadChoice::Own);
  EXPECT_EQ(thread_choice_of("openmp"), ThreadChoice::OpenMp);
  set_threads(thread_choice_of("auto"));
  EXPECT_EQ(thread_choice(), ThreadChoice::Auto);
  EXPECT_ERROR(thread_choice_of("tbb"), OptionsError, "the threads are 'tbb'; they must be 'auto', 'own' or 'openmp'");
}

TEST_F(ThreadPoolTest, ThereIsAtLeastOneThread) {
  EXPECT_ERROR(set_num_threads(0), OptionsError, "the number of threads is 0; it must be from 1 to 4096");
  EXPECT_ERROR(set_num_threads(-2), OptionsError, "the number of threads is -2; it must be from 1 to 4096");
  EXPECT_EQ(num_threads(), before_);
}

}  // namespace
}  // namespace tc::cpu
